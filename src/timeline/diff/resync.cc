#include "timeline/diff/resync.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "base/endian.h"
#include "model/batch.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kAnchors = 8;     // holes of each run behind which they may meet
constexpr size_t kFirstLook = 16;  // places that have to be the same before registers are read
constexpr size_t kFewRegisters = 4;  // as few of them as this prove nothing
constexpr size_t kMomentSteps = 16;  // behind a moment whose registers may tell of it
constexpr size_t kTwins = 64;      // moments with the same registers that are looked at
constexpr uint64_t kLowestPointer = 0x10000;  // what is below is none

/// One thread's registers from step to step.
class StateWalk {
 public:
  static Result<StateWalk> open(const DiffSide& side, uint64_t tid, uint64_t seq) {
    StateWalk out(side.catalog.registers, tid);
    TW_ASSIGN_OR_RETURN(out.source_, side.steps.open_thread_at(seq, tid));
    return out;
  }
  /// In front of step `seq` of the thread, which is not in front of the last one; nullptr: there is
  /// no such step.
  Result<const RegisterState*> at(uint64_t seq) {
    while (true) {
      TW_ASSIGN_OR_RETURN(const RegisterState* const state, next());
      if (state == nullptr || place_.seq == seq) return state;
      if (place_.seq > seq) return static_cast<const RegisterState*>(nullptr);
    }
  }
  /// In front of the thread's next step; nullptr: there is none.
  Result<const RegisterState*> next() {
    take(left_);
    left_ = {};
    while (true) {
      const auto events = batch_->events();
      for (; next_ < events.size(); ++next_) {
        const Event& event = events[next_];
        lost_ |= std::holds_alternative<Lost>(event.body);
        const auto* mark = std::get_if<Mark>(&event.body);
        if (mark != nullptr && mark->session) state_.reset(layout_);
        const auto* step = std::get_if<Step>(&event.body);
        if (step == nullptr) continue;
        ++steps_;
        if (event.tid != tid_) continue;
        ++next_;
        place_ = place_of(event.tid, event.seq, *step);
        take(step->before);
        left_ = step->registers;
        return static_cast<const RegisterState*>(&state_);
      }
      next_ = 0;
      TW_ASSIGN_OR_RETURN(const bool more, source_->next(*batch_));
      if (!more) return static_cast<const RegisterState*>(nullptr);
    }
  }
  uint64_t steps() const { return steps_; }
  /// Of the step that the last state is in front of.
  const Place& place() const { return place_; }
  /// Was something lost in front of it, since the last call?
  bool take_lost() { return std::exchange(lost_, false); }

 private:
  StateWalk(const RegisterLayout& layout, uint64_t tid) : layout_(layout), tid_(tid) {
    state_.reset(layout);
  }
  void take(std::span<const Step::RegisterChange> changes) {
    for (const Step::RegisterChange& one : changes) state_.set(layout_, one.index, one.value);
  }

  const RegisterLayout& layout_;
  uint64_t tid_ = 0;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Batch> batch_ = std::make_unique<Batch>();
  size_t next_ = 0;
  RegisterState state_;
  std::span<const Step::RegisterChange> left_;  // by the last step, in batch_
  Place place_;
  bool lost_ = false;
  uint64_t steps_ = 0;
};

bool is_better(const Resync& one, const Resync& other) {
  if (one.goes_on != other.goes_on) return one.goes_on;
  return one.a + one.b < other.a + other.b;
}

}  // namespace

/// Which registers of the two runs can be compared, and what is the same of them.
struct Resyncer::Known {
  Known(const Catalog& catalog, RegisterPairs& registers, const Bases& bases)
      : catalog(catalog), registers(registers), bases(bases), differed(registers.all().size()) {
    registers.count(differed.size() / 16);  // as so many are soon set to nothing
  }
  static Bytes value(const RegisterState& state, const Register& reg) {
    return Bytes(state.block).subspan(reg.offset, reg.size_bytes);
  }
  bool is_word(Bytes value) const {
    return value.size() == catalog.address_bytes && value.size() <= 8;
  }
  uint64_t number(Bytes value) const {
    return load_uint(value.data(), value.size(), catalog.endian);
  }
  bool same_value(Bytes one, Bytes other) const {
    if (std::ranges::equal(one, other)) return true;
    if (!is_word(one)) return false;
    const uint64_t x = number(one), y = number(other);
    if (x < kLowestPointer || y < kLowestPointer) return false;
    return bases.rebased(x, y) || moved.contains(y - x);
  }
  /// These are of one moment: what is different in them proves nothing later.
  void learn(const RegisterState& a, const RegisterState& b) {
    const auto& pairs = registers.all();
    registers.count(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) {
      const RegisterPairs::Pair& pair = pairs[i];
      if (!a.is_valid(pair.index_a) || !b.is_valid(pair.index_b)) continue;
      const Bytes one = value(a, *pair.a), other = value(b, *pair.b);
      if (same_value(one, other)) continue;
      const bool is_moved = is_word(one) && (number(other) - number(one)) % Bases::kPage == 0 &&
                            std::min(number(one), number(other)) >= kLowestPointer;
      if (is_moved)
        moved.insert(number(other) - number(one));
      else
        differed[i] = true;
    }
  }
  /// None: nothing is known to differ, and too little to be the same.
  std::optional<bool> same(const RegisterState& a, const RegisterState& b) const {
    const auto& pairs = registers.all();
    size_t count = 0, i = 0;
    bool differ = false;
    for (; i < pairs.size() && !differ; ++i) {
      const RegisterPairs::Pair& pair = pairs[i];
      if (differed[i] || !a.is_valid(pair.index_a) || !b.is_valid(pair.index_b)) continue;
      differ = !same_value(value(a, *pair.a), value(b, *pair.b));
      ++count;
    }
    registers.count(i + 1);
    if (differ) return false;
    return count > kFewRegisters ? std::optional(true) : std::nullopt;
  }

  /// Do they say anything?
  bool enough(const RegisterState& state, bool of_a) const {
    const auto& pairs = registers.all();
    size_t count = 0, i = 0;
    for (; i < pairs.size() && count <= kFewRegisters; ++i)
      count += !differed[i] && state.is_valid(of_a ? pairs[i].index_a : pairs[i].index_b);
    registers.count(i);
    return count > kFewRegisters;
  }

  const Catalog& catalog;
  RegisterPairs& registers;
  const Bases& bases;
  std::vector<bool> differed;  // pairs of `registers`, at a moment that is the same
  std::set<uint64_t> moved;    // distances of stacks and heaps
};

bool Resyncer::same_place(const Place& a, const Place& b) const {
  return (a.pc ^ b.pc) % Bases::kPage == 0 && bases_.would_pair(a, b) && same_length(a, b);
}

/// How far the runs go together from there, up to the next hole of either, or the step in front of
/// it, which proves nothing.
Resyncer::Way Resyncer::common_way(const HoledRun& a, const HoledRun& b, size_t at_a, size_t at_b,
                                   size_t most) const {
  const auto to_hole = [](const HoledRun& run, size_t at) {
    const auto hole = std::ranges::upper_bound(run.holes, at);
    if (hole == run.holes.end() && !run.bitten_end) return run.places.size() - at;
    const size_t end = hole == run.holes.end() ? run.places.size() : *hole;
    return std::max<size_t>(end - at, 2) - 1;
  };
  most = std::min({most, to_hole(a, at_a), to_hole(b, at_b)});
  for (size_t i = 0; i < most; ++i)
    if (!same_place(a.places[at_a + i], b.places[at_b + i])) return {i, true};
  return {most, false};
}

/// Numbers of places in `other` with what the run behind a hole has at place `at`.
Result<std::vector<size_t>> Resyncer::find_others(const HoledRun& holed, const HoledRun& other,
                                                  size_t at, bool holed_is_a, size_t window,
                                                  Known& known) {
  std::vector<size_t> alike, out;
  const auto way = [&](size_t i, size_t most) {
    return holed_is_a ? common_way(holed, other, at, i, most)
                      : common_way(other, holed, i, at, most);
  };
  const uint64_t offset = holed.places[at].pc % Bases::kPage;
  for (size_t i = 0; i < std::min(window, other.places.size()); ++i)
    if (other.places[i].pc % Bases::kPage == offset && !way(i, kFirstLook).parts)
      alike.push_back(i);
  if (alike.empty()) return out;
  TW_ASSIGN_OR_RETURN(StateWalk here, StateWalk::open(holed.side, holed.tid, holed.places[at].seq));
  TW_ASSIGN_OR_RETURN(const RegisterState* own, here.at(holed.places[at].seq));
  steps_read_ += here.steps();
  if (own == nullptr || !known.enough(*own, holed_is_a)) return out;
  TW_ASSIGN_OR_RETURN(StateWalk walk, StateWalk::open(other.side, other.tid,
                                                     other.places[alike[0]].seq));
  for (const size_t i : alike) {
    TW_ASSIGN_OR_RETURN(const RegisterState* state, walk.at(other.places[i].seq));
    if (state == nullptr || out.size() == kTwins || registers_.is_spent()) break;
    const auto same = holed_is_a ? known.same(*own, *state) : known.same(*state, *own);
    if (same.value_or(false)) out.push_back(i);
  }
  steps_read_ += walk.steps();
  return out;
}

Status Resyncer::learn(const HoledRun& a, const HoledRun& b, Known& known) {
  if (!a.last || !b.last) return {};
  TW_ASSIGN_OR_RETURN(StateWalk last_a, StateWalk::open(a.side, a.tid, *a.last));
  TW_ASSIGN_OR_RETURN(StateWalk last_b, StateWalk::open(b.side, b.tid, *b.last));
  TW_ASSIGN_OR_RETURN(const RegisterState* of_a, last_a.at(*a.last));
  TW_ASSIGN_OR_RETURN(const RegisterState* of_b, last_b.at(*b.last));
  if (of_a != nullptr && of_b != nullptr) known.learn(*of_a, *of_b);
  return {};
}

Result<std::optional<bool>> Resyncer::same_moment(const HoledRun& a, const HoledRun& b,
                                                  uint64_t seq_a, uint64_t seq_b) {
  if (registers_.is_spent()) return std::optional<bool>();
  Known known(a.side.catalog, registers_, bases_);
  TW_RETURN_IF_ERROR(learn(a, b, known));
  TW_ASSIGN_OR_RETURN(StateWalk walk_a, StateWalk::open(a.side, a.tid, seq_a));
  TW_ASSIGN_OR_RETURN(StateWalk walk_b, StateWalk::open(b.side, b.tid, seq_b));
  TW_ASSIGN_OR_RETURN(const RegisterState* of_a, walk_a.at(seq_a));
  TW_ASSIGN_OR_RETURN(const RegisterState* of_b, walk_b.at(seq_b));
  walk_a.take_lost();
  walk_b.take_lost();
  std::optional<bool> same;
  // A trace may tell registers only after each step: right behind a hole none is known then.
  for (size_t i = 0; i < kMomentSteps && of_a != nullptr && of_b != nullptr; ++i) {
    same = known.same(*of_a, *of_b);
    if (same) break;
    TW_ASSIGN_OR_RETURN(of_a, walk_a.next());
    TW_ASSIGN_OR_RETURN(of_b, walk_b.next());
    const bool lost_a = walk_a.take_lost(), lost_b = walk_b.take_lost();
    if (lost_a || lost_b || !same_place(walk_a.place(), walk_b.place())) break;
  }
  steps_read_ += walk_a.steps() + walk_b.steps();
  return same;
}

Result<std::optional<Resync>> Resyncer::find(const HoledRun& a, const HoledRun& b, size_t window) {
  if (registers_.is_spent()) return std::optional<Resync>();
  Known known(a.side.catalog, registers_, bases_);
  TW_RETURN_IF_ERROR(learn(a, b, known));
  std::optional<Resync> best;
  for (const bool in_a : {true, false}) {
    const HoledRun& holed = in_a ? a : b;
    const HoledRun& other = in_a ? b : a;
    // What both have first behind something that is missing is behind a hole of one of them.
    for (size_t n = 0; n < std::min(kAnchors, holed.holes.size()); ++n) {
      const size_t at = holed.holes[n];
      if (at >= window || (best && best->goes_on && at >= best->a + best->b)) break;
      TW_ASSIGN_OR_RETURN(const std::vector<size_t> others,
                          find_others(holed, other, at, in_a, window, known));
      std::optional<Resync> found;
      size_t longest = 0;
      for (const size_t i : others) {
        const Way way = in_a ? common_way(a, b, at, i, kSight) : common_way(a, b, i, at, kSight);
        if (!way.parts && found && found->goes_on) {
          found->sure = false;
        } else if (!found || (!found->goes_on && (!way.parts || way.steps > longest))) {
          found = Resync{in_a ? at : i, in_a ? i : at, !way.parts, !way.parts};
          longest = way.steps;
        }
      }
      if (found && (!best || is_better(*found, *best))) best = found;
    }
  }
  return best;
}

}  // namespace tracewell::timeline
