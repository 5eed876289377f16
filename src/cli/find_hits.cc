#include "cli/find_hits.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/text.h"
#include "formats/jsonl.h"
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

Result<AddressRange> parse_range(const FindOptions& options) {
  std::string_view rest = options.argument;
  const auto first = parse_number(take_until(rest, ','));
  const auto size = parse_number(rest.empty() ? "1" : rest);
  if (!first || !size || *size == 0)
    return {Errc::InvalidArgument, fmt::format("find {} {}: wanted is ADDR or ADDR,LEN",
                                               options.what, options.argument)};
  return AddressRange{*first, *first + std::min(*size - 1, UINT64_MAX - *first)};
}

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
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string HitPrinter::rendered(const Event& event, std::string_view text,
                                 const Json& more) const {
  const Step& step = std::get<Step>(event.body);
  Json whole = {{"step", event.seq}, {"tid", event.tid}, {"pc", hex_number(step.pc)},
                {"opcode", to_hex(step.opcode)}};
  if (more.is_object()) whole.update(more);
  return rendered(fmt::format("{}{}{}", step_line(event), text.empty() ? "" : "  ", text), whole);
}

Status find_executions(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  TW_ASSIGN_OR_RETURN(const AddressRange pcs, parse_range(options));
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
    std::string text = fmt::format("{} {:#x},{}", kind, access.address, access.size);
    Json more = {{"access", kind}, {"addr", hex_number(access.address)}, {"size", access.size}};
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

Status find_accesses(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  TW_ASSIGN_OR_RETURN(const AddressRange bytes, parse_range(options));
  const uint8_t kinds = options.what == "read"    ? timeline::kReads
                        : options.what == "write" ? timeline::kWrites
                                                  : timeline::kAccesses;
  const timeline::Timeline& index = *trace.timeline;
  return each_step(
      options,
      {[&](uint64_t from) { return index.next_access(bytes, kinds, from); },
       [&](uint64_t before) { return index.last_access(bytes, kinds, before); },
       [&](uint64_t from, uint64_t end) { return index.accesses(bytes, kinds, from, end); }},
      [&](uint64_t seq) -> Result<bool> {
        TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(seq));
        return print_accesses(*event, bytes, kinds, hits);
      });
}

namespace {

/// One change of a register at a step.
class ChangePrinter {
 public:
  ChangePrinter(StepTrace& trace, uint32_t index, HitPrinter& hits)
      : trace_(trace), index_(index), hits_(hits) {}

  Result<bool> print(uint64_t seq, ChangedBy by) {
    TW_ASSIGN_OR_RETURN(const Event* const event, trace_.step(seq));
    const Step& step = std::get<Step>(event->body);
    const bool others = by == ChangedBy::Others;
    const Register& one = trace_.catalog().registers.registers[index_];
    const auto changes = others ? step.before : step.registers;
    const auto change = std::find_if(changes.begin(), changes.end(),
                                     [&](const auto& each) { return each.index == index_; });
    std::string value = "?";
    bool known = change != changes.end() && !change->value.empty();
    if (known) {
      value = formats::register_value_hex(change->value, trace_.catalog().endian);
    } else if (!others) {
      // What it left is what the thread's next step finds.
      TW_ASSIGN_OR_RETURN(const RegisterState after,
                          timeline::registers_at(*trace_.source, *trace_.timeline, seq + 1,
                                                 event->tid));
      known = after.is_valid(index_);
      if (known)
        value = formats::register_value_hex(
            Bytes(after.block).subspan(one.offset, one.size_bytes), trace_.catalog().endian);
    }
    Json more = {{"register", one.name}, {"by", others ? "others" : "instruction"}};
    more["value"] = known ? Json(value) : Json(nullptr);
    return hits_.step(*event, fmt::format("{}={}{}", printable(one.name), value,
                                          others ? "  (since the thread's last step)" : ""),
                      more);
  }

 private:
  StepTrace& trace_;
  uint32_t index_;
  HitPrinter& hits_;
};

}  // namespace

Status find_changes(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  const RegisterLayout& layout = trace.catalog().registers;
  const Register* one = layout.find(options.argument);
  if (one == nullptr)
    return {Errc::InvalidArgument,
            fmt::format("this trace has no register {}", printable(options.argument))};
  const auto index = static_cast<uint32_t>(one - layout.registers.data());
  const timeline::Timeline& times = *trace.timeline;
  const auto sooner = [](Found a, Found b) { return a && b ? std::min(a, b) : a ? a : b; };
  ChangePrinter printer(trace, index, hits);
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
          if (times.next_change(index, by, seq) != seq) continue;
          TW_ASSIGN_OR_RETURN(const bool more, printer.print(seq, by));
          if (!more) return false;
        }
        return true;
      });
}

Status find_bytes(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  const auto pattern = from_hex(options.argument);
  if (!pattern || pattern->empty())
    return {Errc::InvalidArgument,
            fmt::format("find bytes {}: wanted are hex digits, two a byte", options.argument)};
  timeline::find_bytes(*trace.timeline, *pattern, [&](const timeline::BytesHit& hit) {
    if (hit.last < options.from || hit.first > options.to) return true;
    return hits.line(
        fmt::format("{:#x}  before steps {} to {}", hit.address, hit.first, hit.last),
        {{"addr", hex_number(hit.address)}, {"first", hit.first}, {"last", hit.last}});
  });
  return {};
}

}  // namespace tracewell::cli
