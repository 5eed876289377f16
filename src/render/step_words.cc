#include "render/step_words.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::render {
namespace {

using Json = nlohmann::ordered_json;

std::string bracketed(const std::string& name) {
  return name.empty() ? "" : fmt::format(" <{}>", printable(name));
}

}  // namespace

Json thread_number(uint64_t tid) { return tid != 0 ? Json(tid) : Json(); }

std::span<const Note> notes_at(std::span<const Note> notes, uint64_t step) {
  const auto found = std::ranges::equal_range(notes, step, {}, &Note::step);
  return {found.begin(), found.end()};
}

std::string note_line(const Note& note) { return fmt::format("  note: {}", printable(note.text)); }

StepWords::StepWords(const Catalog& catalog, trace::AddressNames names)
    : names_(std::move(names)), decoder_(catalog.machine) {}

std::string StepWords::instruction(Bytes opcode, uint64_t pc) const {
  const std::lock_guard lock(mutex_);
  return decoder_.text(opcode, pc);
}

std::string StepWords::code_name(uint64_t address) const {
  return names_.code ? names_.code(address) : "";
}

std::string StepWords::data_name(uint64_t address) const {
  return names_.data ? names_.data(address) : "";
}

std::string StepWords::code(uint64_t address) const { return bracketed(code_name(address)); }
std::string StepWords::data(uint64_t address) const { return bracketed(data_name(address)); }

std::string StepWords::line(const trace::StepAt& step) const {
  std::string out = fmt::format("step {}  pc {:#x}{}  {}", step.seq, step.pc, code(step.pc),
                                to_hex(step.opcode));
  if (const std::string text = instruction(step.opcode, step.pc); !text.empty()) out += "  " + text;
  if (step.tid != 0) out += fmt::format("  thread {}", step.tid);
  return out;
}

Json StepWords::object(const Event& event) const { return object(trace::step_at(event)); }

Json StepWords::object(const trace::StepAt& step) const {
  Json out = {{"step", step.seq},
              {"tid", thread_number(step.tid)},
              {"pc", fmt::format("{:#x}", step.pc)},
              {"opcode", to_hex(step.opcode)}};
  const std::string text = instruction(step.opcode, step.pc);
  out["disassembly"] = text.empty() ? Json() : Json(text);
  const auto add = [&](const char* key, const std::function<std::string(uint64_t)>& name_of) {
    if (!name_of) return;
    const std::string name = name_of(step.pc);
    out[key] = name.empty() ? Json() : Json(name);
  };
  add("module", names_.module);
  add("symbol", names_.symbol);
  add("source", names_.source);
  return out;
}

}  // namespace tracewell::render
