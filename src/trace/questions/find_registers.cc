// Who changed a register.
#include <algorithm>
#include <array>
#include <span>

#include "machine/usage.h"
#include "timeline/moment.h"
#include "trace/questions/finding.h"

namespace tracewell::trace {
namespace {

using timeline::ChangedBy;

/// One change of a register at a step.
class Changes {
 public:
  Changes(Finding& finding, machine::RegisterPlace place)
      : finding_(finding), place_(std::move(place)) {}

  /// False when nobody wants more.
  Result<bool> hand_over(uint64_t seq, ChangedBy by) {
    TW_ASSIGN_OR_RETURN(const Event* const event, finding_.reader.step(seq));
    const Step& step = std::get<Step>(event->body);
    const uint64_t tid = event->tid;
    const bool others = by == ChangedBy::Others;
    Value value = told(others ? step.before : step.registers);
    if (value.empty() && !others) {
      // What it left is what the thread's next step finds.
      TW_ASSIGN_OR_RETURN(value, value_before(seq + 1, tid));
    }
    if (place_.bytes != 0 && !value.empty()) {
      TW_ASSIGN_OR_RETURN(const Value old, others ? value_left(seq, tid)
                                                        : value_before(seq, tid));
      if (old == value) return true;  // another part has changed
    }
    TW_ASSIGN_OR_RETURN(const Event* const again, finding_.reader.step(seq));
    return finding_.hand_over(*again, FoundRegister{place_.name, std::move(value), others});
  }

 private:
  using Value = std::vector<uint8_t>;  // of the part; empty = not known

  Value value_of(Bytes whole) const {
    if (whole.empty()) return {};
    const Bytes part = machine::bytes_of(place_, whole, finding_.trace.catalog().endian);
    return {part.begin(), part.end()};
  }
  Value told(std::span<const Step::RegisterChange> changes) const {
    const auto change = std::ranges::find(changes, place_.index, &Step::RegisterChange::index);
    return change == changes.end() ? Value() : value_of(change->value);
  }
  Result<Value> value_before(uint64_t at, uint64_t tid) {
    TW_ASSIGN_OR_RETURN(const RegisterState state,
                        timeline::registers_at(finding_.reader.source(), *finding_.trace.timeline,
                                               at, tid));
    const Register& one = finding_.trace.catalog().registers.registers[place_.index];
    if (!state.is_valid(place_.index)) return Value();
    return value_of(Bytes(state.block).subspan(one.offset, one.size_bytes));
  }
  /// What the thread's last step before `at` left.
  Result<Value> value_left(uint64_t at, uint64_t tid) {
    const auto last = finding_.trace.timeline->last_step_of(tid, at);
    if (!last) return Value();
    TW_ASSIGN_OR_RETURN(const Event* const event, finding_.reader.step(*last));
    if (Value value = told(std::get<Step>(event->body).registers); !value.empty()) return value;
    return value_before(*last, tid);
  }

  Finding& finding_;
  machine::RegisterPlace place_;
};

}  // namespace

Status find_register_changes(Finding& finding) {
  const FindQuestion& question = finding.question;
  TW_ASSIGN_OR_RETURN(const machine::RegisterPlace place,
                      named_register(finding.trace.catalog(), question.register_name));
  using Found = std::optional<uint64_t>;
  const uint32_t index = place.index;
  const timeline::Timeline& times = *finding.trace.timeline;
  const auto sooner = [](Found a, Found b) { return a && b ? std::min(a, b) : a ? a : b; };
  Changes changes(finding, place);
  std::array<ChangedBy, 2> kinds = {ChangedBy::Others, ChangedBy::Instruction};
  if (question.backward) std::ranges::reverse(kinds);
  return each_step(
      question, finding.work,
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
        for (const ChangedBy by : kinds) {
          if (!times.changes_at(index, by, seq)) continue;
          TW_ASSIGN_OR_RETURN(const bool more, changes.hand_over(seq, by));
          if (!more) return false;
        }
        return true;
      });
}

}  // namespace tracewell::trace
