#include "cli/find_hits.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/text.h"
#include "cli/json_document.h"
#include "formats/jsonl.h"
#include "machine/usage.h"
#include "timeline/moment.h"
#include "timeline/search.h"
#include "timeline/step_walk.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;
using timeline::AddressRange;
using timeline::ChangedBy;
using Found = std::optional<uint64_t>;

std::string hex_number(uint64_t value) { return fmt::format("{:#x}", value); }

/// Steps of the wanted range in the wanted direction, one by one, until `visit` says false.
Status each_step(const FindOptions& options, timeline::StepWalk::Question question,
                 const std::function<Result<bool>(uint64_t)>& visit) {
  const uint64_t end = options.to == UINT64_MAX ? UINT64_MAX : options.to + 1;
  timeline::StepWalk walk(std::move(question), options.from, end, options.backward);
  while (const Found at = walk.next()) {
    TW_ASSIGN_OR_RETURN(const bool more, visit(*at));
    if (!more) break;
  }
  return {};
}

}  // namespace

bool HitPrinter::print(std::string_view hit) {
  fmt::print("{}\n", hit);
  ++count_;
  return !enough();
}

std::string HitPrinter::rendered(std::string_view text, const Json& whole) const {
  if (!options_.json) return std::string(text);
  return json_document(whole);
}

std::string HitPrinter::rendered(const Event& event, std::string_view text,
                                 const Json& more) const {
  Json whole = words_.object(event);
  if (more.is_object()) whole.update(more);
  std::string line = fmt::format("{}{}{}", words_.line(event), text.empty() ? "" : "  ", text);
  add_notes(event.seq, line, whole);
  return rendered(line, whole);
}

void HitPrinter::add_notes(uint64_t step, std::string& text, Json& object) const {
  for (const Note& note : notes_at(notes_, step)) {
    text += "\n" + note_line(note);
    object["notes"].push_back(note.text);
  }
}

Status find_executions(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  const AddressRange& pcs = options.range;
  const timeline::Timeline& index = *trace.timeline;
  return each_step(
      options,
      {[&](uint64_t from) { return index.next_execution(pcs, from); },
       [&](uint64_t before) { return index.last_execution(pcs, before); },
       [&](uint64_t from, uint64_t end) { return index.executions(pcs, from, end); }},
      [&](uint64_t seq) -> Result<bool> {
        TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(seq));
        return hits.step(*event, "", {});
      });
}

namespace {

/// Those of a step's accesses that were asked for.
bool print_accesses(const Event& event, const AddressRange& bytes, uint8_t kinds,
                    HitPrinter& hits) {
  using Kind = Step::MemoryAccess::Kind;
  for (const Step::MemoryAccess& access : std::get<Step>(event.body).memory) {
    const bool reads = access.kind == Kind::Read || access.kind == Kind::ReadWrite;
    const bool writes = access.kind == Kind::Write || access.kind == Kind::ReadWrite;
    if (!(reads && (kinds & timeline::kReads) != 0) &&
        !(writes && (kinds & timeline::kWrites) != 0))
      continue;
    if (access.size == 0 || access.address > bytes.last ||
        (access.address < bytes.first && bytes.first - access.address >= access.size))
      continue;
    const std::string_view kind = formats::kAccessNames[static_cast<size_t>(access.kind)];
    std::string text = fmt::format("{} {:#x},{}{}", kind, access.address, access.size,
                                   hits.words().data(access.address));
    Json more = {{"access", kind}, {"addr", hex_number(access.address)}, {"size", access.size}};
    if (std::string name = hits.words().data_name(access.address); !name.empty())
      more["name"] = std::move(name);
    if (!access.old_bytes.empty()) {
      more["old"] = to_hex(access.old_bytes);
      text += "  " + to_hex(access.old_bytes);
    }
    if (!access.new_bytes.empty()) {
      more["new"] = to_hex(access.new_bytes);
      text += " -> " + to_hex(access.new_bytes);
    }
    if (!hits.step(event, text, more)) return false;
  }
  return true;
}

}  // namespace

namespace {

/// The wanted bytes that a step touches, or tells of beside an access; each once, ascending.
std::vector<AddressRange> told_bytes(const Step& step, const AddressRange& wanted) {
  std::vector<AddressRange> all, out;
  for (const Step::MemoryAccess& access : step.memory) {
    if (access.size == 0 || access.old_bytes.empty()) continue;
    const uint64_t reach = std::min<uint64_t>(access.size - 1, UINT64_MAX - access.address);
    const AddressRange one = {std::max(access.address, wanted.first),
                              std::min(access.address + reach, wanted.last)};
    if (one.first <= one.last) all.push_back(one);
  }
  std::ranges::sort(all, {}, &AddressRange::first);
  for (const AddressRange& one : all) {
    if (out.empty() || (one.first > out.back().last && one.first - out.back().last > 1))
      out.push_back(one);
    else
      out.back().last = std::max(out.back().last, one.last);
  }
  return out;
}

/// What the step finds changed; of that, what was over before step `until_max`.
bool print_changes_by_others(const StepTrace& trace, const Event& event, const AddressRange& bytes,
                             uint64_t until_max, HitPrinter& hits) {
  for (const AddressRange& part : told_bytes(std::get<Step>(event.body), bytes))
    for (const timeline::ChangeByOthers& one : trace.timeline->changes_by_others(event.seq, part)) {
      if (one.until > until_max) continue;
      const std::string old_bytes = to_hex(one.old_bytes), new_bytes = to_hex(one.new_bytes);
      Json more = {{"by", "others"},
                   {"addr", hex_number(one.address)},
                   {"size", one.old_bytes.size()},
                   {"since", one.since},
                   {"until", one.until}};
      if (std::string name = hits.words().data_name(one.address); !name.empty())
        more["name"] = std::move(name);
      more["old"] = old_bytes;
      more["new"] = new_bytes;
      const std::string text = fmt::format(
          "finds {:#x},{}{}  {} -> {}  (changed by others between steps {} and {})", one.address,
          one.old_bytes.size(), hits.words().data(one.address), old_bytes, new_bytes, one.since,
          one.until);
      if (!hits.step(event, text, more)) return false;
    }
  return true;
}

}  // namespace

namespace {

/// The steps that access the bytes so.
timeline::StepWalk::Question accesses(const timeline::Timeline& index, const AddressRange& bytes,
                                      uint8_t kinds) {
  return {[=, &index](uint64_t from) { return index.next_access(bytes, kinds, from); },
          [=, &index](uint64_t before) { return index.last_access(bytes, kinds, before); },
          [=, &index](uint64_t from, uint64_t end) {
            return index.accesses(bytes, kinds, from, end);
          }};
}

/// Steps behind --to that find what others had changed by then: what memory was inferred to be in
/// front of the step behind --to rests on these. Ascending.
Result<std::vector<uint64_t>> later_finders(StepTrace& trace, const FindOptions& options) {
  std::vector<uint64_t> out;
  const timeline::Timeline& index = *trace.timeline;
  if (options.to >= index.steps()) return out;
  FindOptions behind = options;
  behind.from = options.to + 1;
  behind.to = UINT64_MAX;
  behind.backward = false;
  TW_RETURN_IF_ERROR(each_step(
      behind, accesses(index, options.range, timeline::kOthers),
      [&](uint64_t seq) -> Result<bool> {
        // Where others may have written since, the step tells of that.
        if (!index.sealed(behind.from, seq)) return false;
        TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(seq));
        const auto was_before = [&](const AddressRange& part) {
          return std::ranges::any_of(
              index.changes_by_others(seq, part),
              [&](const timeline::ChangeByOthers& one) { return one.until <= behind.from; });
        };
        if (std::ranges::any_of(told_bytes(std::get<Step>(event->body), options.range), was_before))
          out.push_back(seq);
        return true;
      }));
  return out;
}

/// Forwards they come last. False when there have been enough.
Result<bool> print_later_finders(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  TW_ASSIGN_OR_RETURN(std::vector<uint64_t> finders, later_finders(trace, options));
  if (options.backward) std::ranges::reverse(finders);
  for (const uint64_t seq : finders) {
    TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(seq));
    if (!print_changes_by_others(trace, *event, options.range, options.to + 1, hits)) return false;
  }
  return true;
}

}  // namespace

Status find_accesses(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  const AddressRange& bytes = options.range;
  const bool others = options.what != "read";
  if (others && options.backward) {
    TW_ASSIGN_OR_RETURN(const bool more, print_later_finders(trace, options, hits));
    if (!more) return {};
  }
  const auto kinds = static_cast<uint8_t>(
      !others                    ? timeline::kReads
      : options.what == "write"  ? timeline::kWrites | timeline::kOthers
                                 : timeline::kAccesses | timeline::kOthers);
  TW_RETURN_IF_ERROR(each_step(
      options, accesses(*trace.timeline, bytes, kinds),
      [&](uint64_t seq) -> Result<bool> {
        TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(seq));
        const auto by_others = [&] {
          return !others || print_changes_by_others(trace, *event, bytes, UINT64_MAX, hits);
        };
        const auto by_itself = [&] { return print_accesses(*event, bytes, kinds, hits); };
        return options.backward ? by_itself() && by_others() : by_others() && by_itself();
      }));
  if (!others || options.backward || hits.enough()) return {};
  TW_ASSIGN_OR_RETURN(const bool more, print_later_finders(trace, options, hits));
  static_cast<void>(more);
  return {};
}

namespace {

/// One change of a register at a step.
class ChangePrinter {
 public:
  ChangePrinter(StepTrace& trace, machine::RegisterPlace place, HitPrinter& hits)
      : trace_(trace), place_(std::move(place)), hits_(hits) {}

  Result<bool> print(uint64_t seq, ChangedBy by) {
    TW_ASSIGN_OR_RETURN(const Event* const event, trace_.step(seq));
    const Step& step = std::get<Step>(event->body);
    const uint64_t tid = event->tid;
    const bool others = by == ChangedBy::Others;
    std::string value = told(others ? step.before : step.registers);
    if (value.empty() && !others) {
      // What it left is what the thread's next step finds.
      TW_ASSIGN_OR_RETURN(value, value_before(seq + 1, tid));
    }
    if (place_.bytes != 0 && !value.empty()) {
      TW_ASSIGN_OR_RETURN(const std::string old, others ? value_left(seq, tid)
                                                        : value_before(seq, tid));
      if (old == value) return true;  // another part has changed
    }
    TW_ASSIGN_OR_RETURN(const Event* const again, trace_.step(seq));
    Json more = {{"register", place_.name}, {"by", others ? "others" : "instruction"}};
    more["value"] = value.empty() ? Json(nullptr) : Json(value);
    return hits_.step(*again, fmt::format("{}={}{}", printable(place_.name),
                                          value.empty() ? "?" : value,
                                          others ? "  (since the thread's last step)" : ""),
                      more);
  }

 private:
  /// Of the whole register's bytes; "" when they are not known.
  std::string value_of(Bytes whole) const {
    if (whole.empty()) return "";
    const Catalog& catalog = trace_.catalog();
    return formats::register_value_hex(machine::bytes_of(place_, whole, catalog.endian),
                                       catalog.endian);
  }
  std::string told(std::span<const Step::RegisterChange> changes) const {
    const auto change = std::find_if(changes.begin(), changes.end(), [&](const auto& each) {
      return each.index == place_.index;
    });
    return change == changes.end() ? "" : value_of(change->value);
  }
  Result<std::string> value_before(uint64_t at, uint64_t tid) {
    TW_ASSIGN_OR_RETURN(const RegisterState state,
                        timeline::registers_at(*trace_.source, *trace_.timeline, at, tid));
    const Register& one = trace_.catalog().registers.registers[place_.index];
    if (!state.is_valid(place_.index)) return std::string();
    return value_of(Bytes(state.block).subspan(one.offset, one.size_bytes));
  }
  /// What the thread's last step before `at` left.
  Result<std::string> value_left(uint64_t at, uint64_t tid) {
    const auto last = trace_.timeline->last_step_of(tid, at);
    if (!last) return std::string();
    TW_ASSIGN_OR_RETURN(const Event* const event, trace_.step(*last));
    if (std::string value = told(std::get<Step>(event->body).registers); !value.empty())
      return value;
    return value_before(*last, tid);
  }

  StepTrace& trace_;
  machine::RegisterPlace place_;
  HitPrinter& hits_;
};

}  // namespace

Status find_changes(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  TW_ASSIGN_OR_RETURN(const machine::RegisterPlace place,
                      named_register(trace.catalog(), options.argument));
  const uint32_t index = place.index;
  const timeline::Timeline& times = *trace.timeline;
  const auto sooner = [](Found a, Found b) { return a && b ? std::min(a, b) : a ? a : b; };
  ChangePrinter printer(trace, place, hits);
  return each_step(
      options,
      {[&](uint64_t from) {
         return sooner(times.next_change(index, ChangedBy::Others, from),
                       times.next_change(index, ChangedBy::Instruction, from));
       },
       [&](uint64_t before) {
         return std::max(times.last_change(index, ChangedBy::Others, before),
                         times.last_change(index, ChangedBy::Instruction, before));
       },
       [&](uint64_t from, uint64_t end) { return times.changes(index, from, end); }},
      [&](uint64_t seq) -> Result<bool> {
        std::vector<ChangedBy> kinds = {ChangedBy::Others, ChangedBy::Instruction};
        if (options.backward) std::reverse(kinds.begin(), kinds.end());
        for (const ChangedBy by : kinds) {
          if (!times.changes_at(index, by, seq)) continue;
          TW_ASSIGN_OR_RETURN(const bool more, printer.print(seq, by));
          if (!more) return false;
        }
        return true;
      });
}

namespace {

/// Of the bytes of a hit: where they are, and what they are.
struct HitBytes {
  AddressRange range;
  Bytes pattern;  // as far as there are addresses
};

HitBytes bytes_of(const timeline::BytesHit& hit, Bytes pattern) {
  const uint64_t reach = std::min<uint64_t>(pattern.size() - 1, UINT64_MAX - hit.address);
  return {{hit.address, hit.address + reach}, pattern.first(reach + 1)};
}

/// Did the step leave the bytes of the hit that it wrote as they are in front of the next step? Of
/// what it wrote without a value, and of what is known from later steps alone, only a place where
/// nobody else can have written in between says that.
bool made(const timeline::Timeline& timeline, const Event& event, const HitBytes& hit) {
  using Kind = Step::MemoryAccess::Kind;
  using timeline::ByteState;
  std::vector<uint8_t> found(hit.pattern.size());
  std::vector<ByteState> states(found.size());
  timeline.memory(event.seq + 1, hit.range.first, found, states);
  const bool alone = timeline.sealed(event.seq, event.seq + 1);
  // A later access of the step overwrites an earlier one.
  std::vector<std::optional<bool>> is_made(found.size());
  for (const Step::MemoryAccess& access : std::get<Step>(event.body).memory) {
    if (access.kind != Kind::Write && access.kind != Kind::ReadWrite) continue;
    for (size_t i = 0; i < found.size(); ++i) {
      const uint64_t at = hit.range.first + i - access.address;
      if (at >= access.size) continue;
      const bool told = at < access.new_bytes.size();
      if (told && access.new_bytes[at] != hit.pattern[i])
        is_made[i] = false;
      else
        is_made[i] = alone || (told && states[i] != ByteState::Inferred);
    }
  }
  return std::ranges::none_of(is_made, [](const auto& one) { return one == false; });
}

/// The step whose write made the bytes what they are; nullptr when it was another moment, or nobody
/// knows. Until the next question.
Result<const Event*> writer_of(StepTrace& trace, const timeline::BytesHit& hit, Bytes pattern) {
  const timeline::Timeline& index = *trace.timeline;
  if (hit.first == 0) return nullptr;
  const HitBytes bytes = bytes_of(hit, pattern);
  const uint64_t last = hit.first - 1;
  if (hit.first < index.steps() && index.stretch_of(hit.first).first > last) return nullptr;
  // What is written without any content is followed by an opening: it has made nothing.
  if (!index.accesses_at(bytes.range, timeline::kWrites, last)) return nullptr;
  TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(last));
  return made(index, *event, bytes) ? event : nullptr;
}

/// When others made the bytes what they are, if that is known: of all that they changed then.
struct Times {
  uint64_t since = 0, until = 0;
};
std::optional<Times> changed_by_others(const timeline::Timeline& index,
                                       const timeline::BytesHit& hit, size_t size) {
  const uint64_t reach = std::min<uint64_t>(size - 1, UINT64_MAX - hit.address);
  const AddressRange range = {hit.address, hit.address + reach};
  std::optional<Times> out;
  const uint64_t end = hit.last + 1;
  // The steps that find it have found the whole hit; behind an opening they say nothing of it.
  for (auto finder = index.next_access(range, timeline::kOthers, hit.first, end);
       finder && index.sealed(hit.first, *finder);
       finder = index.next_access(range, timeline::kOthers, *finder + 1, end))
    for (const timeline::ChangeByOthers& one : index.changes_by_others(*finder, range))
      if (one.until == hit.first)
        out = Times{std::min(one.since, out ? out->since : one.since), one.until};
  return out;
}

}  // namespace

namespace {

/// What may have been meant by a text that is no row of bytes.
std::string bytes_hint(std::string_view text) {
  constexpr size_t kTextMax = 64;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const std::string_view digits = text.substr(2);
    return from_hex(digits) ? fmt::format("; without 0x it is {}", digits)
                            : "; a number is found by: find value";
  }
  if (text.empty() || text.size() > kTextMax) return "";
  if (text.find_first_not_of("0123456789abcdefABCDEF") == text.npos)
    return "; this is an odd number of digits";
  return fmt::format("; the bytes of this text are {}", to_hex(as_bytes(text)));
}

}  // namespace

Status find_bytes(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  const auto pattern = from_hex(options.argument);
  if (!pattern || pattern->empty())
    return {Errc::InvalidArgument,
            fmt::format("find bytes {}: wanted are hex digits, two a byte, the lowest address "
                        "first, such as 488b05{}",
                        printable(options.argument), bytes_hint(options.argument))};
  Status done;
  timeline::find_bytes(*trace.timeline, *pattern, [&](const timeline::BytesHit& hit) {
    if (hit.last < options.from || hit.first > options.to) return true;
    const auto writer = writer_of(trace, hit, *pattern);
    if (!writer) {
      done = writer.error();
      return false;
    }
    std::string text = fmt::format("{:#x}{}  before steps {} to {}", hit.address,
                                   hits.words().data(hit.address), hit.first, hit.last);
    Json whole = {{"addr", hex_number(hit.address)}, {"first", hit.first}, {"last", hit.last}};
    if (std::string name = hits.words().data_name(hit.address); !name.empty())
      whole["name"] = std::move(name);
    // What the hit rests on, where that is not what steps told alone.
    if (hit.inferred) text += ", in part inferred";
    if (hit.kept) text += ", in part kept";
    whole["inferred"] = hit.inferred;
    whole["kept"] = hit.kept;
    if (*writer != nullptr) {
      text += ", written by " + hits.words().line(**writer);
      whole["written_by"] = hits.words().object(**writer);
      hits.add_notes((*writer)->seq, text, whole["written_by"]);
    }
    if (const auto times = changed_by_others(*trace.timeline, hit, pattern->size())) {
      text += fmt::format(", changed by others between steps {} and {}", times->since,
                          times->until);
      whole["by"] = "others";
      whole["since"] = times->since;
      whole["until"] = times->until;
    }
    return hits.line(text, whole);
  });
  return done;
}

}  // namespace tracewell::cli
