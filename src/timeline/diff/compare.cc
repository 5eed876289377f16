#include "timeline/diff/compare.h"

#include <algorithm>
#include <utility>

#include "timeline/diff/cause.h"
#include "timeline/diff/flow.h"
#include "timeline/diff/holes.h"
#include "timeline/diff/meet.h"
#include "timeline/diff/resync.h"
#include "timeline/diff/rounds.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kStretch = 4096;    // steps compared at a time
constexpr size_t kTrial = 8;         // same steps behind which a new distance is believed
constexpr size_t kFirstWindow = 256;
// Steps that may be read with their registers to find out where runs go on behind holes: so many,
// and so many times those that were compared. Behind that, only near ones.
constexpr uint64_t kResyncFree = 1 << 21, kResyncTimes = 8;
constexpr size_t kResyncWindow = 1 << 20, kResyncNear = 2048;
// Times --look-back that causes may be looked for in front of earlier differences, in each thread.
constexpr uint64_t kLookBacks = 16;
constexpr size_t kLoopWindow = 1 << 16;  // where there is another explanation than a loop

Spot spot_of(const Place& place) { return {place.seq, place.pc}; }

/// One thread of both traces.
class ThreadComparer {
 public:
  ThreadComparer(Trace& a, Trace& b, const DiffOptions& options, Bases& bases,
                 RegisterPairs& registers, ThreadFlow flow_a, ThreadFlow flow_b,
                 ThreadNumbers numbers, Stage& stage, ThreadDiff& out)
      : in_a_(a),
        in_b_(b),
        options_(options),
        bases_(bases),
        a_(std::move(flow_a)),
        b_(std::move(flow_b)),
        numbers_(numbers),
        rounds_(a.threads, b.threads, *numbers.a, *numbers.b),
        resyncer_(bases, registers),
        holes_(a.holes, b.holes),
        stage_(stage),
        out_(out) {}

  Status run() {
    while (!done_) {
      TW_RETURN_IF_ERROR(compare());
      if (!done_) TW_RETURN_IF_ERROR(part());
    }
    return {};
  }

 private:
  Status compare();
  size_t same_steps(std::span<const Place> a, std::span<const Place> b);
  bool take_pair(const Place& a, const Place& b);
  void withdraw_trial();
  enum class Behind : uint8_t { Unknown, Here, Elsewhere };  // a hole, the runs go on
  Result<Behind> resync();
  size_t resync_window();
  /// Holes are no longer looked behind as far as elsewhere; the report says so.
  bool is_spent() {
    const bool spent = resync_work_ > kResyncFree + kResyncTimes * (a_.done() + b_.done());
    out_.short_sighted |= spent || resyncer_.is_spent();
    return spent;
  }
  HoledRun holed_run(const Trace& trace, ThreadFlow& flow, std::vector<size_t> holes,
                     std::span<const Place> places) const;
  void meet(const Difference& difference, bool sure);
  Result<bool> is_sure(const Difference& difference);
  Status go_on_at(const HoledRun& a, const HoledRun& b, const Resync& place);
  bool is_bitten(const Place& a, const Place& b) const {
    return in_a_.holes.is_in_front_of_hole(a.seq) || in_b_.holes.is_in_front_of_hole(b.seq);
  }
  /// Behind a hole, nothing is known of who wrote what.
  void forget() {
    met_.clear();
    all_from_.reset();
    unseen_ = stretch_;
  }
  Status part();
  Status look(size_t window, Parting& parting);
  Result<std::optional<Meeting>> find_meeting(Parting& parting);
  Result<std::optional<Meeting>> find_far_exit(const Parting& parting);
  Status skip(ThreadFlow& flow, uint64_t count);
  Status tell_lone_holes();
  static Result<std::optional<Hole>> size_of(HoleList& holes,
                                             const std::optional<LoneHoles::Lone>& lone);
  static Result<std::optional<Hole>> at_end(HoleList& holes, const ThreadFlow& flow);
  Status find_holes(Difference& difference, const RoundCounter::Since& loop);
  Status explain(Difference& difference);
  Status end(Difference& difference);
  void tell(Difference difference);

  Trace& in_a_;
  Trace& in_b_;
  const DiffOptions& options_;
  Bases& bases_;
  ThreadFlow a_, b_;
  ThreadNumbers numbers_;
  RoundCounter rounds_;
  Resyncer resyncer_;
  LoneHoles holes_;
  Stage& stage_;
  ThreadDiff& out_;
  uint64_t resync_work_ = 0;   // steps and places that were looked at for it
  struct Seqs {
    uint64_t a = 0, b = 0;
  };
  std::vector<Met> met_;       // since the last hole
  std::optional<Seqs> all_from_;  // the first steps that are the same, since then
  Seqs stretch_from_;          // …, since the runs met
  uint64_t unseen_ = 0;        // of stretch_: in front of the last hole
  uint64_t looked_back_ = 0;   // steps in front of earlier differences that were looked at
  uint64_t stretch_ = 0;       // same steps since the runs met
  uint64_t trial_ = UINT64_MAX;  // value of stretch_ when a distance was new
  size_t trial_mark_ = 0;
  uint64_t trial_code_ = 0;
  bool done_ = false;
};

/// Goes on to where the runs part, or to where both end.
Status ThreadComparer::compare() {
  while (true) {
    TW_ASSIGN_OR_RETURN(std::span<const Place> a, a_.ahead(kStretch));
    TW_ASSIGN_OR_RETURN(std::span<const Place> b, b_.ahead(kStretch));
    size_t count = std::min(a.size(), b.size());
    Behind behind = Behind::Unknown;
    if (count != 0 && !holes_.over()) count = holes_.next(a, b);
    if (count == 0 && !a.empty() && !b.empty()) {
      TW_ASSIGN_OR_RETURN(behind, resync());
      if (done_) return {};
      if (behind == Behind::Elsewhere) continue;
      forget();
      // It has looked further ahead, so the places may have moved.
      TW_ASSIGN_OR_RETURN(a, a_.ahead(1));
      TW_ASSIGN_OR_RETURN(b, b_.ahead(1));
      count = 1;
    }
    const size_t same = same_steps(a.first(count), b.first(count));
    if (stretch_ == same && same != 0) stretch_from_ = {a[0].seq, b[0].seq};
    if (same != 0 && !all_from_) all_from_ = Seqs{a[0].seq, b[0].seq};
    holes_.see(a.first(same), b.first(same));
    if (behind == Behind::Here) holes_.settle();
    a_.advance(same);
    b_.advance(same);
    out_.same += same;
    stage_.at(a_.done());
    if (same < count) {
      withdraw_trial();
      return {};
    }
    if (count == 0) {
      done_ = a.empty() && b.empty();
      return done_ ? tell_lone_holes() : Status();
    }
  }
}

size_t ThreadComparer::same_steps(std::span<const Place> a, std::span<const Place> b) {
  size_t at = 0;
  while (at < a.size()) {
    const uint64_t distance = bases_.current();
    const size_t before = at;
    while (at < a.size() && b[at].pc - a[at].pc == distance && a[at].code == b[at].code) {
      bases_.visit(a[at].pc);
      ++at;
    }
    stretch_ += at - before;
    if (at == a.size() || !take_pair(a[at], b[at])) break;
    ++stretch_;
    ++at;
  }
  return at;
}

/// A pair that is not the same at first sight.
bool ThreadComparer::take_pair(const Place& a, const Place& b) {
  const size_t mark = bases_.mark();
  const size_t distances = bases_.distances();
  if (!bases_.pair(a, b)) return false;
  if (bases_.distances() > distances && (trial_ == UINT64_MAX || stretch_ - trial_ > kTrial)) {
    trial_ = stretch_;
    trial_mark_ = mark;
    trial_code_ = out_.differing_code;
  }
  if (same_code(bases_, a, b) || is_bitten(a, b)) return true;
  if (out_.differing_code++ == 0) {
    out_.code_a = spot_of(a);
    out_.code_b = spot_of(b);
  }
  return true;
}

/// A module that seemed to stand elsewhere, and a few steps on nothing was the same any more: these
/// were two places, and there the runs have parted.
void ThreadComparer::withdraw_trial() {
  const uint64_t trial = std::exchange(trial_, UINT64_MAX);
  if (trial == UINT64_MAX || trial == 0 || stretch_ - trial > kTrial) return;
  if (out_.differing_code == trial_code_) return;  // the same program, so it has parted here
  const auto count = static_cast<size_t>(stretch_ - trial);
  bases_.undo(trial_mark_);
  a_.go_back(count);
  b_.go_back(count);
  stretch_ -= count;
  out_.same -= count;
  out_.differing_code = trial_code_;
  if (trial_code_ == 0) out_.code_a = out_.code_b = std::nullopt;
}

Status ThreadComparer::look(size_t window, Parting& parting) {
  TW_ASSIGN_OR_RETURN(parting.a, a_.ahead(window));
  TW_ASSIGN_OR_RETURN(parting.b, b_.ahead(window));
  parting.all_a = parting.a.size() < window;
  parting.all_b = parting.b.size() < window;
  parting.a = parting.a.first(std::min(window, parting.a.size()));
  parting.b = parting.b.first(std::min(window, parting.b.size()));
  parting.last_a = stretch_ == 0 ? nullptr : &a_.back().back();
  parting.last_b = stretch_ == 0 ? nullptr : &b_.back().back();
  parting.address_bytes = in_a_.side.catalog.address_bytes;
  return {};
}

Result<std::optional<Meeting>> ThreadComparer::find_meeting(Parting& parting) {
  std::optional<Meeting> found;
  for (size_t window = std::min(kFirstWindow, options_.window);;
       window = std::min(window * 8, options_.window)) {
    TW_RETURN_IF_ERROR(look(window, parting));
    if (auto exit = find_loop_exit(bases_, parting)) return exit;
    if (!found) found = find_anchor(bases_, parting);
    // Steps that only one run has may be rounds of a loop, and that may be a long one.
    if (found && (found->a != 0) == (found->b != 0)) break;
    const bool all = parting.all_a && parting.all_b;
    if (window == options_.window || all || (found && window >= kLoopWindow)) break;
  }
  if (found || (parting.all_a && parting.all_b)) return found;
  return find_far_exit(parting);
}

/// A loop needs no more of a run than where it is now, so it may be a very long one. Both are
/// followed at once, for one of them may be in a loop that it never leaves.
Result<std::optional<Meeting>> ThreadComparer::find_far_exit(const Parting& parting) {
  if (parting.last_a == nullptr || parting.a.empty() || parting.b.empty()) return {std::nullopt};
  struct Run {
    LoopExit exit;
    std::optional<ThreadFlow> flow;  // none: there is nothing to find
  };
  Run runs[] = {
      {LoopExit(bases_, *parting.last_a, parting.b[0], false, parting.address_bytes), {}},
      {LoopExit(bases_, *parting.last_b, parting.a[0], true, parting.address_bytes), {}}};
  for (const bool in_a : {true, false}) {
    Run& run = runs[in_a ? 0 : 1];
    const std::span<const Place> seen = in_a ? parting.a : parting.b;
    if (!run.exit.look_at(seen) || !run.exit.in_loop()) continue;
    TW_ASSIGN_OR_RETURN(run.flow, ThreadFlow::open(in_a ? in_a_.threads : in_b_.threads,
                                                   in_a ? *numbers_.a : *numbers_.b,
                                                   seen.back().seq + 1));
  }
  while (runs[0].flow || runs[1].flow) {
    for (const bool in_a : {true, false}) {
      Run& run = runs[in_a ? 0 : 1];
      if (!run.flow) continue;
      TW_ASSIGN_OR_RETURN(const std::span<const Place> places, run.flow->ahead(kStretch));
      const bool goes_on = run.exit.look_at(places) && !places.empty();
      if (const auto steps = run.exit.steps()) {
        const Place& other = in_a ? parting.b[0] : parting.a[0];
        const Place& exit = run.exit.exit();
        if (in_a ? bases_.would_pair(exit, other) : bases_.would_pair(other, exit))
          return {Meeting{in_a ? *steps : 0, in_a ? 0 : *steps, run.exit.loop(), exit,
                          run.exit.last_in_loop()}};
      }
      run.flow->advance(places.size());
      if (!goes_on) run.flow.reset();
    }
  }
  return {std::nullopt};
}

Status ThreadComparer::skip(ThreadFlow& flow, uint64_t count) {
  while (count != 0) {
    TW_ASSIGN_OR_RETURN(const std::span<const Place> places, flow.ahead(kStretch));
    const size_t some = std::min<size_t>(count, places.size());
    if (some == 0) break;
    flow.advance(some);
    count -= some;
  }
  return {};
}

size_t ThreadComparer::resync_window() {
  return std::min(options_.window, is_spent() ? kResyncNear : kResyncWindow);
}

HoledRun ThreadComparer::holed_run(const Trace& trace, ThreadFlow& flow, std::vector<size_t> holes,
                                   std::span<const Place> places) const {
  HoledRun out{trace.side, places[0].tid, places, std::move(holes), {}};
  // The very last step may be one that something has bitten into.
  const bool sure = stretch_ > 1 && !holes_.in_a() && !holes_.in_b();
  if (sure) out.last = flow.back()[flow.back().size() - 2].seq;
  const uint64_t end = places.back().seq;
  out.bitten_end = end + 1 == trace.side.steps.count() && trace.holes.is_in_front_of_hole(end);
  return out;
}

/// In front of a hole, or of a step that is in front of one: where do the runs go on together?
Result<ThreadComparer::Behind> ThreadComparer::resync() {
  const size_t most = resync_window();
  for (size_t window = std::min(kFirstWindow, most);; window = std::min(window * 8, most)) {
    TW_ASSIGN_OR_RETURN(std::span<const Place> a, a_.ahead(window + Resyncer::kSight));
    TW_ASSIGN_OR_RETURN(std::span<const Place> b, b_.ahead(window + Resyncer::kSight));
    a = a.first(std::min(a.size(), window + Resyncer::kSight));
    b = b.first(std::min(b.size(), window + Resyncer::kSight));
    const HoledRun run_a = holed_run(in_a_, a_, holes_.ahead_in_a(a), a);
    const HoledRun run_b = holed_run(in_b_, b_, holes_.ahead_in_b(b), b);
    const uint64_t read = resyncer_.steps_read();
    TW_ASSIGN_OR_RETURN(const std::optional<Resync> found, resyncer_.find(run_a, run_b, window));
    resync_work_ += resyncer_.steps_read() - read + window;
    out_.short_sighted |= resyncer_.is_spent();
    const bool all = a.size() <= window && b.size() <= window;
    if ((!found || !found->goes_on) && window < most && !all) continue;
    if (!found) return Behind::Unknown;
    if (found->a == 0 && found->b == 0) return found->sure ? Behind::Here : Behind::Unknown;
    TW_RETURN_IF_ERROR(go_on_at(run_a, run_b, *found));
    return Behind::Elsewhere;
  }
}

/// What is in front of that is missing in one of them, as far as anybody can tell.
Status ThreadComparer::go_on_at(const HoledRun& a, const HoledRun& b, const Resync& place) {
  Difference difference;
  difference.kind = Difference::Kind::Missing;
  std::optional<uint64_t> after_a, after_b;
  if (!a_.back().empty()) after_a = a_.back().back().seq;
  if (!b_.back().empty()) after_b = b_.back().back().seq;
  if (stretch_ != 0) {
    difference.branch_a = spot_of(a_.back().back());
    difference.branch_b = spot_of(b_.back().back());
  }
  difference.a = spot_of(a.places[0]);
  difference.b = spot_of(b.places[0]);
  difference.meet_a = spot_of(a.places[place.a]);
  difference.meet_b = spot_of(b.places[place.b]);
  difference.only_a = place.a;
  difference.only_b = place.b;
  TW_ASSIGN_OR_RETURN(difference.hole_a, in_a_.holes.find(after_a, difference.meet_a->seq));
  TW_ASSIGN_OR_RETURN(difference.hole_b, in_b_.holes.find(after_b, difference.meet_b->seq));
  TW_RETURN_IF_ERROR(skip(a_, place.a));
  TW_RETURN_IF_ERROR(skip(b_, place.b));
  meet(difference, place.sure);
  if (options_.first) done_ = true;
  tell(std::move(difference));
  return {};
}

/// Behind a hole, the same places alone do not prove that the runs have met, for the program may
/// come there many times. Registers do, where enough are known and the same.
Result<bool> ThreadComparer::is_sure(const Difference& difference) {
  const bool doubt = difference.kind == Difference::Kind::Missing || holes_.in_a() || holes_.in_b();
  if (!doubt) return true;
  if (is_spent()) return false;
  const uint64_t read = resyncer_.steps_read();
  TW_ASSIGN_OR_RETURN(const std::span<const Place> a, a_.ahead(1));
  TW_ASSIGN_OR_RETURN(const std::span<const Place> b, b_.ahead(1));
  TW_ASSIGN_OR_RETURN(const std::optional<bool> same,
                      resyncer_.same_moment(holed_run(in_a_, a_, {}, a),
                                            holed_run(in_b_, b_, {}, b),
                                            difference.meet_a->seq, difference.meet_b->seq));
  resync_work_ += resyncer_.steps_read() - read;
  return same.value_or(false);
}

void ThreadComparer::meet(const Difference& difference, bool sure) {
  const uint64_t seq_a = difference.meet_a->seq, seq_b = difference.meet_b->seq;
  if (sure)
    holes_.meet(seq_a, seq_b);
  else
    holes_.meet_in_doubt(seq_a, seq_b, difference.hole_a, difference.hole_b);
  if (difference.kind == Difference::Kind::Missing) forget();
  stretch_ = unseen_ = 0;
  trial_ = UINT64_MAX;
}

Status ThreadComparer::part() {
  if (!holes_.over()) {
    TW_ASSIGN_OR_RETURN(const std::span<const Place> a, a_.ahead(1));
    TW_ASSIGN_OR_RETURN(const std::span<const Place> b, b_.ahead(1));
    if (!a.empty() && !b.empty() && is_bitten(a[0], b[0])) {
      TW_ASSIGN_OR_RETURN(const Behind behind, resync());
      if (behind == Behind::Elsewhere) return {};
    }
  }
  Parting parting;
  TW_ASSIGN_OR_RETURN(const std::optional<Meeting> meeting, find_meeting(parting));
  Difference difference;
  if (!parting.a.empty()) difference.a = spot_of(parting.a[0]);
  if (!parting.b.empty()) difference.b = spot_of(parting.b[0]);
  if (parting.last_a != nullptr) {
    difference.branch_a = spot_of(*parting.last_a);
    difference.branch_b = spot_of(*parting.last_b);
  }
  if (parting.a.empty() || parting.b.empty()) difference.kind = Difference::Kind::Ends;
  using Kind = Difference::Kind;
  const bool loop = meeting && meeting->loop;
  if (loop) difference.kind = Difference::Kind::Loop;
  const bool ignored = loop && options_.ignore_loops;
  if (meeting) {
    const bool far_a = meeting->far && meeting->a != 0, far_b = meeting->far && meeting->b != 0;
    difference.meet_a = spot_of(far_a ? *meeting->far : parting.a[meeting->a]);
    difference.meet_b = spot_of(far_b ? *meeting->far : parting.b[meeting->b]);
    difference.only_a = meeting->a;
    difference.only_b = meeting->b;
  }
  const bool told = !ignored && out_.differences.size() < options_.most;
  RoundCounter::Since since;
  if (loop && told) {
    TW_ASSIGN_OR_RETURN(since, rounds_.count(*meeting, a_, b_, difference));
  }
  if (!ignored) TW_RETURN_IF_ERROR(find_holes(difference, since));
  if (told && (difference.kind == Kind::Parts || difference.kind == Kind::Loop))
    TW_RETURN_IF_ERROR(explain(difference));
  if (!meeting) {
    TW_RETURN_IF_ERROR(end(difference));
    if (out_.given_up && !(parting.all_a && parting.all_b))
      out_.given_up_after = options_.window;
  } else {
    TW_ASSIGN_OR_RETURN(const bool sure, is_sure(difference));
    TW_RETURN_IF_ERROR(skip(a_, meeting->a));
    TW_RETURN_IF_ERROR(skip(b_, meeting->b));
    const bool is_told = told && !ignored;
    met_.push_back({stretch_ - std::min(unseen_, stretch_), meeting->a, meeting->b,
                    is_told ? std::optional(out_.differences.size()) : std::nullopt});
    meet(difference, sure);
    if (options_.first && !ignored) done_ = true;
  }
  if (!ignored) tell(std::move(difference));
  return {};
}

/// All that is there is the same, and steps are missing: in both traces they may not be the same
/// ones, be they missing at the same place and as many.
Status ThreadComparer::tell_lone_holes() {
  Difference difference;
  difference.kind = Difference::Kind::Missing;
  const auto untold = [](const std::optional<LoneHoles::Lone>& lone) {
    return lone && !lone->told ? lone : std::nullopt;
  };
  TW_ASSIGN_OR_RETURN(difference.hole_a, size_of(in_a_.holes, untold(holes_.in_a())));
  TW_ASSIGN_OR_RETURN(difference.hole_b, size_of(in_b_.holes, untold(holes_.in_b())));
  if (out_.differences.empty() && out_.untold == 0 && !difference.hole_a && !difference.hole_b) {
    TW_ASSIGN_OR_RETURN(difference.hole_a, size_of(in_a_.holes, holes_.settled_in_a()));
    TW_ASSIGN_OR_RETURN(difference.hole_b, size_of(in_b_.holes, holes_.settled_in_b()));
  }
  if (!difference.hole_a && !difference.hole_b) {
    TW_ASSIGN_OR_RETURN(difference.hole_a, at_end(in_a_.holes, a_));
    TW_ASSIGN_OR_RETURN(difference.hole_b, at_end(in_b_.holes, b_));
    out_.both_cut = difference.hole_a && difference.hole_b;
  }
  if (difference.hole_a || difference.hole_b) tell(std::move(difference));
  return {};
}

/// What is missing where the trace ends, if it ended in this thread.
Result<std::optional<Hole>> ThreadComparer::at_end(HoleList& holes, const ThreadFlow& flow) {
  if (flow.back().empty() || flow.back().back().seq + 1 != holes.steps().count())
    return std::optional<Hole>();
  return holes.find(flow.back().back().seq, std::nullopt);
}

Result<std::optional<Hole>> ThreadComparer::size_of(HoleList& holes,
                                                    const std::optional<LoneHoles::Lone>& lone) {
  if (!lone) return std::optional<Hole>();
  return holes.find(lone->first == 0 ? std::nullopt : std::optional(lone->first - 1), lone->to);
}

/// Where steps are missing between those that are still the same and those that are not any more,
/// the runs need not have parted. Of a loop, any round may be meant.
Status ThreadComparer::find_holes(Difference& difference, const RoundCounter::Since& loop) {
  const auto find = [&](HoleList& holes, const ThreadFlow& flow,
                        const std::optional<LoneHoles::Lone>& lone,
                        const std::optional<uint64_t>& since,
                        const std::optional<Spot>& first) -> Result<std::optional<Hole>> {
    if (lone) return size_of(holes, lone);
    std::optional<uint64_t> after, to;
    if (!flow.back().empty()) after = std::min(flow.back().back().seq, since.value_or(UINT64_MAX));
    if (first) to = first->seq;
    TW_ASSIGN_OR_RETURN(std::optional<Hole> hole, holes.find(after, to));
    // What has eaten the steps behind it may have bitten into this one.
    const bool parts = difference.kind == Difference::Kind::Parts;
    if (!hole && first && parts) return holes.find(first->seq, first->seq + 1);
    return hole;
  };
  const auto& first_a = loop.a ? difference.meet_a : difference.a;
  const auto& first_b = loop.b ? difference.meet_b : difference.b;
  TW_ASSIGN_OR_RETURN(difference.hole_a,
                      find(in_a_.holes, a_, holes_.in_a(), loop.a, first_a));
  TW_ASSIGN_OR_RETURN(difference.hole_b,
                      find(in_b_.holes, b_, holes_.in_b(), loop.b, first_b));
  if (difference.hole_a || difference.hole_b) difference.kind = Difference::Kind::Missing;
  return {};
}

Status ThreadComparer::explain(Difference& difference) {
  if (!difference.branch_a || options_.ignore_values) return {};
  SameRun run{a_.back().back().tid, b_.back().back().tid, difference.branch_a->seq,
              difference.branch_b->seq, stretch_ - std::min(unseen_, stretch_), met_,
              out_.differences};
  const auto steps_since = [&](const Seqs& from) {
    return static_cast<size_t>(std::max(run.seq_a - from.a, run.seq_b - from.b));
  };
  // Most causes are near.
  const size_t near = std::min(options_.look_back, steps_since(stretch_from_));
  size_t most = near;
  if (!met_.empty() && all_from_ && looked_back_ < kLookBacks * options_.look_back)
    most = std::min(options_.look_back, steps_since(*all_from_));
  for (size_t look_back = std::min<size_t>(1024, most);;
       look_back = std::min(look_back * 8, most)) {
    TW_ASSIGN_OR_RETURN(difference.causes,
                        find_causes(in_a_.side, in_b_.side, run, look_back, bases_,
                                    options_.ignore_registers));
    if (look_back > near) looked_back_ += look_back;
    const bool open = std::ranges::any_of(difference.causes, [](const Cause& one) {
      return !one.a.writer && !one.b.writer && !one.earlier;
    });
    if (!open || look_back >= most) return {};
  }
}

/// The rest of both is different; how much that is.
Status ThreadComparer::end(Difference& difference) {
  out_.given_up = difference.a && difference.b;
  done_ = true;
  if (options_.first) return {};
  for (ThreadFlow* flow : {&a_, &b_}) {
    uint64_t& only = flow == &a_ ? difference.only_a : difference.only_b;
    while (true) {
      TW_ASSIGN_OR_RETURN(const std::span<const Place> places, flow->ahead(kStretch));
      if (places.empty()) break;
      only += places.size();
      flow->advance(places.size());
    }
  }
  return {};
}

void ThreadComparer::tell(Difference difference) {
  out_.undecided += difference.kind == Difference::Kind::Missing;
  if (out_.differences.size() < options_.most)
    out_.differences.push_back(std::move(difference));
  else
    ++out_.untold;
}

}  // namespace

Status compare_thread(Trace& a, Trace& b, const DiffOptions& options, ThreadNumbers numbers,
                      Bases& bases, RegisterPairs& registers, Stage& stage, ThreadDiff& out) {
  TW_ASSIGN_OR_RETURN(ThreadFlow flow_a, ThreadFlow::open(a.threads, *numbers.a, 0));
  TW_ASSIGN_OR_RETURN(ThreadFlow flow_b, ThreadFlow::open(b.threads, *numbers.b, 0,
                                                         ThreadFlow::Reading::InThread));
  ThreadComparer comparer(a, b, options, bases, registers, std::move(flow_a), std::move(flow_b),
                          numbers, stage, out);
  return comparer.run();
}

}  // namespace tracewell::timeline
