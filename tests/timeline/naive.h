// A timeline without an index: it remembers everything, and looks at all of it for each question.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/catalog.h"
#include "model/event.h"
#include "timeline/naive_flow.h"
#include "timeline/naive_memory.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {

class Naive {
 public:
  using Answer = std::optional<uint64_t>;

  Naive(const Catalog& catalog, std::span<const Event> events) : catalog_(catalog) {
    for (const Event& event : events) {
      if (const auto* mark = std::get_if<Mark>(&event.body); mark != nullptr && mark->session) {
        ++stretch_;
        states_.clear();
        last_steps_.clear();
        last_tid_.reset();
      }
      if (std::holds_alternative<Lost>(event.body)) {
        loss_ = steps();
        ++stretch_;
      }
      if (const auto* step = std::get_if<Step>(&event.body)) add(event.tid, *step);
    }
  }

  uint64_t steps() const { return pcs_.size(); }
  std::vector<uint64_t> pcs_, tids_;
  std::vector<RegisterState> before_, after_;  // each step, of its thread
  std::vector<bool> after_known_;
  std::vector<unsigned> stretches_;  // each step's: of a session, with no loss in it

  Answer next_execution(AddressRange pcs, uint64_t from) const {
    return next(from, [&](uint64_t i) { return pcs_[i] >= pcs.first && pcs_[i] <= pcs.last; });
  }
  Answer last_execution(AddressRange pcs, uint64_t before) const {
    return last(before, [&](uint64_t i) { return pcs_[i] >= pcs.first && pcs_[i] <= pcs.last; });
  }
  Answer next_access(AddressRange bytes, uint8_t kinds, uint64_t from) const {
    return next(from, [&](uint64_t i) { return touches(i, bytes, kinds); });
  }
  Answer last_access(AddressRange bytes, uint8_t kinds, uint64_t before) const {
    return last(before, [&](uint64_t i) { return touches(i, bytes, kinds); });
  }
  Answer next_change(uint32_t index, ChangedBy by, uint64_t from) const {
    return next(from, [&](uint64_t i) { return changes_[i].contains({index, by}); });
  }
  Answer last_change(uint32_t index, ChangedBy by, uint64_t before) const {
    return last(before, [&](uint64_t i) { return changes_[i].contains({index, by}); });
  }
  Answer next_step_of(uint64_t tid, uint64_t from) const {
    return next(from, [&](uint64_t i) { return tids_[i] == tid; });
  }
  Answer last_step_of(uint64_t tid, uint64_t before) const {
    return last(before, [&](uint64_t i) { return tids_[i] == tid; });
  }

  /// nullopt: nobody knows anything.
  std::optional<RegisterState> registers(uint64_t at, uint64_t tid) const {
    const unsigned stretch = stretch_at(at);
    if (at < steps() && tids_[at] == tid) return before_[at];
    const Answer last = last_step_of(tid, at), next = next_step_of(tid, at);
    if (!last || stretches_[*last] != stretch) return std::nullopt;
    if (after_known_[*last]) return after_[*last];
    if (!next || stretches_[*next] != stretch) return std::nullopt;
    return before_[*next];
  }

  /// Behind the last step, too.
  unsigned stretch_at(uint64_t at) const { return at < steps() ? stretches_[at] : stretch_; }

  NaiveByte byte(uint64_t at, uint64_t address) const {
    return memory_.byte(at, stretch_at(at), address);
  }
  std::optional<NaiveMemory::Change> change_by_others(uint64_t at, uint64_t address) const {
    if (at >= steps()) return std::nullopt;
    return memory_.change(at, stretches_[at], address);
  }
 private:
  struct Access {
    uint64_t first = 0, last = 0;
    uint8_t kinds = 0;
  };

  template <class Is>
  Answer next(uint64_t from, Is&& is) const {
    for (uint64_t i = from; i < steps(); ++i)
      if (is(i)) return i;
    return std::nullopt;
  }
  template <class Is>
  Answer last(uint64_t before, Is&& is) const {
    for (uint64_t i = std::min(before, steps()); i-- > 0;)
      if (is(i)) return i;
    return std::nullopt;
  }
  bool touches(uint64_t step, const AddressRange& bytes, uint8_t kinds) const {
    const auto changed = found_changed_[step].lower_bound(bytes.first);
    if ((kinds & kOthers) != 0 && changed != found_changed_[step].end() && *changed <= bytes.last)
      return true;
    return std::any_of(accesses_[step].begin(), accesses_[step].end(), [&](const Access& one) {
      return (one.kinds & kinds) != 0 && one.first <= bytes.last && one.last >= bytes.first;
    });
  }

  void add(uint64_t tid, const Step& step) {
    const uint64_t seq = steps();
    pcs_.push_back(step.pc);
    tids_.push_back(tid);
    stretches_.push_back(stretch_);
    changes_.emplace_back();
    accesses_.emplace_back();
    found_changed_.emplace_back();
    if (last_tid_ && (*last_tid_ != tid || !leads_to(last_step_, step.pc, is_64())))
      memory_.open(seq, false);
    last_tid_ = tid;
    last_step_ = step;
    const bool is_new = !states_.contains(tid);
    RegisterState& state = states_[tid];
    if (is_new) state.reset(catalog_.registers);
    const RegisterState was = state;
    for (const auto& news : step.before) state.set(catalog_.registers, news.index, news.value);
    for (uint32_t i = 0; i < catalog_.registers.registers.size() && !is_new; ++i)
      if (value(state, i) != value(was, i)) {
        const Answer own = by_itself(tid, i);
        changes_[own.value_or(seq)].insert(
            {i, own ? ChangedBy::Instruction : ChangedBy::Others});
      }
    before_.push_back(state);
    for (const auto& change : step.registers) {
      state.set(catalog_.registers, change.index, change.value);
      changes_[seq].insert({change.index, ChangedBy::Instruction});
    }
    after_.push_back(state);
    after_known_.push_back(step.after_known);
    last_steps_[tid] = seq;
    for (const Step::MemoryAccess& access : step.memory) add_access(seq, access);
    for (const Step::MemoryAccess& access : step.memory)
      for (uint64_t i = 0; i < access.size; ++i)
        if (memory_.change(seq, stretch_, access.address + i))
          found_changed_[seq].insert(access.address + i);
    if (is_open_within(step, is_64())) memory_.open(seq + 1, true);
  }
  bool is_64() const { return catalog_.machine == "x86-64"; }
  /// The thread's last step, if what a register is found to be now is its doing: nobody saw what it
  /// left, nothing was lost since, and what was there before is known.
  Answer by_itself(uint64_t tid, uint32_t index) const {
    const uint64_t last = last_steps_.at(tid);
    const bool changed = changes_[last].contains({index, ChangedBy::Instruction});
    if (after_known_[last] || last < loss_) return std::nullopt;
    if (!after_[last].is_valid(index) && !changed) return std::nullopt;
    return last;
  }
  std::optional<std::vector<uint8_t>> value(const RegisterState& state, uint32_t index) const {
    if (!state.is_valid(index)) return std::nullopt;
    const Register& one = catalog_.registers.registers[index];
    const auto begin = state.block.begin() + one.offset;
    return std::vector<uint8_t>(begin, begin + one.size_bytes);
  }

  void add_access(uint64_t seq, const Step::MemoryAccess& access) {
    using Kind = Step::MemoryAccess::Kind;
    const bool writes = access.kind == Kind::Write || access.kind == Kind::ReadWrite;
    const bool reads = access.kind == Kind::Read || access.kind == Kind::ReadWrite;
    memory_.add(seq, stretch_, access);
    if (access.size == 0 || access.kind == Kind::Nearby) return;
    const uint64_t first = access.address;
    const uint64_t last = first + std::min<uint64_t>(access.size - 1, UINT64_MAX - first);
    const auto kinds = static_cast<uint8_t>((reads ? kReads : 0) | (writes ? kWrites : 0));
    accesses_[seq].push_back({first, last, kinds});
  }

  const Catalog& catalog_;
  unsigned stretch_ = 0;
  std::map<uint64_t, RegisterState> states_;
  std::map<uint64_t, uint64_t> last_steps_;  // by thread, of this session
  uint64_t loss_ = 0;                        // before this step something was lost
  std::vector<std::set<std::pair<uint32_t, ChangedBy>>> changes_;
  std::vector<std::vector<Access>> accesses_;
  std::vector<std::set<uint64_t>> found_changed_;
  std::optional<uint64_t> last_tid_;
  Step last_step_;
  NaiveMemory memory_;
};

}  // namespace tracewell::timeline::test
