#include "render/find_rows.h"

#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/text.h"
#include "render/json_document.h"

namespace tracewell::render {
namespace {

std::string hex_number(uint64_t value) { return fmt::format("{:#x}", value); }

}  // namespace

std::string FindRows::row(const trace::Hit& hit) const {
  if (const auto* step = std::get_if<trace::StepHit>(&hit)) return step_row(*step);
  return memory_row(std::get<trace::MemoryHit>(hit));
}

std::string FindRows::step_row(const trace::StepHit& hit) const {
  std::string text;
  Json more = Json::object();
  std::visit([&](const auto& found) { add(found, text, more); }, hit.found);
  Json whole = words_.object(hit.step);
  whole.update(more);
  std::string line = fmt::format("{}{}{}", words_.line(hit.step), text.empty() ? "" : "  ", text);
  add_notes(hit.step.seq, line, whole);
  return json_ ? json_document(whole) : line;
}

void FindRows::add(const trace::FoundAccess& found, std::string& text, Json& more) const {
  const std::string_view kind = formats::kAccessNames[static_cast<size_t>(found.kind)];
  text = fmt::format("{} {:#x},{}{}", kind, found.address, found.size, words_.data(found.address));
  more = {{"access", kind}, {"addr", hex_number(found.address)}, {"size", found.size}};
  add_name(found.address, more);
  if (!found.old_bytes.empty()) {
    more["old"] = to_hex(found.old_bytes);
    text += "  " + to_hex(found.old_bytes);
  }
  if (!found.new_bytes.empty()) {
    more["new"] = to_hex(found.new_bytes);
    text += " -> " + to_hex(found.new_bytes);
  }
}

void FindRows::add(const timeline::ChangeByOthers& found, std::string& text, Json& more) const {
  const std::string old_bytes = to_hex(found.old_bytes), new_bytes = to_hex(found.new_bytes);
  more = {{"by", "others"},
          {"addr", hex_number(found.address)},
          {"size", found.old_bytes.size()},
          {"since", found.since},
          {"until", found.until}};
  add_name(found.address, more);
  more["old"] = old_bytes;
  more["new"] = new_bytes;
  text = fmt::format("finds {:#x},{}{}  {} -> {}  (changed by others between steps {} and {})",
                     found.address, found.old_bytes.size(), words_.data(found.address), old_bytes,
                     new_bytes, found.since, found.until);
}

void FindRows::add(const trace::FoundRegister& found, std::string& text, Json& more) const {
  const std::string value =
      found.value.empty() ? "" : formats::register_value_hex(found.value, endian_);
  more = {{"register", found.name}, {"by", found.by_others ? "others" : "instruction"}};
  more["value"] = value.empty() ? Json(nullptr) : Json(value);
  text = fmt::format("{}={}{}", printable(found.name), value.empty() ? "?" : value,
                     found.by_others ? "  (since the thread's last step)" : "");
}

void FindRows::add(const trace::FoundValue& found, std::string& text, Json& more) const {
  const std::string_view when = found.before ? "before" : "after";
  if (found.register_name.empty()) {
    text = fmt::format("{} {:#x},{}{}", when, found.address, found.size,
                       words_.data(found.address));
    more = {{"addr", hex_number(found.address)}, {"size", found.size}, {"when", when}};
    add_name(found.address, more);
  } else {
    text = fmt::format("{} {}", when, printable(found.register_name));
    more = {{"register", found.register_name}, {"when", when}};
  }
  if (!names_values_) return;
  const std::string number = formats::register_value_hex(found.value, endian_);
  text += " = " + number;
  more["value"] = number;
}

std::string FindRows::memory_row(const trace::MemoryHit& hit) const {
  const timeline::BytesHit& where = hit.where;
  std::string text = fmt::format("{:#x}{}  before steps {} to {}", where.address,
                                 words_.data(where.address), where.first, where.last);
  Json whole = {{"addr", hex_number(where.address)}, {"first", where.first}, {"last", where.last}};
  add_name(where.address, whole);
  // What the hit rests on, where that is not what steps told alone.
  if (where.inferred) text += ", in part inferred";
  if (where.kept) text += ", in part kept";
  whole["inferred"] = where.inferred;
  whole["kept"] = where.kept;
  if (hit.written_by) {
    text += ", written by " + words_.line(*hit.written_by);
    whole["written_by"] = words_.object(*hit.written_by);
    add_notes(hit.written_by->seq, text, whole["written_by"]);
  }
  if (hit.changed_by_others) {
    text += fmt::format(", changed by others between steps {} and {}",
                        hit.changed_by_others->since, hit.changed_by_others->until);
    whole["by"] = "others";
    whole["since"] = hit.changed_by_others->since;
    whole["until"] = hit.changed_by_others->until;
  }
  return json_ ? json_document(whole) : text;
}

void FindRows::add_name(uint64_t address, Json& more) const {
  if (std::string name = words_.data_name(address); !name.empty()) more["name"] = std::move(name);
}

void FindRows::add_notes(uint64_t step, std::string& text, Json& object) const {
  for (const Note& note : notes_at(notes_, step)) {
    text += "\n" + note_line(note);
    object["notes"].push_back(note.text);
  }
}

}  // namespace tracewell::render
