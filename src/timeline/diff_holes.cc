#include "timeline/diff_holes.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <variant>

#include "model/batch.h"

namespace tracewell::timeline {
namespace {

/// Adds to `hole` what is missing in front of step `seq`.
Status add_losses(const StepIndex& steps, uint64_t seq, std::optional<Hole>& hole) {
  // What stands in front of the step at which reading begins need not be told.
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source,
                      steps.open_meaning_at(seq == 0 ? 0 : seq - 1));
  Batch batch;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
    if (!more) return {};
    for (const Event& event : batch.events()) {
      const auto* lost = std::get_if<Lost>(&event.body);
      if (lost != nullptr && event.seq == seq) {
        if (!hole)
          hole = Hole{seq, lost->count};
        else
          hole->count = hole->count == 0 || lost->count == 0 ? 0 : hole->count + lost->count;
      }
      if (std::holds_alternative<Step>(event.body) && event.seq >= seq) return {};
    }
  }
}

}  // namespace

Result<std::optional<Hole>> find_hole(const StepIndex& steps, std::optional<uint64_t> after,
                                      std::optional<uint64_t> to) {
  std::optional<Hole> out;
  const auto all = steps.stretches();
  const uint64_t last = to.value_or(steps.count());
  for (auto at = std::ranges::lower_bound(all, after ? *after + 1 : 0);
       at != all.end() && *at <= last && *at < steps.count(); ++at)
    TW_RETURN_IF_ERROR(add_losses(steps, *at, out));
  if (last == steps.count()) TW_RETURN_IF_ERROR(add_losses(steps, last, out));
  return out;
}

Holes::Holes(const StepIndex& steps) {
  std::ranges::set_difference(steps.stretches(), steps.sessions(), std::back_inserter(all_));
}

size_t Holes::find(std::span<const Place> places) const {
  const auto place = std::ranges::lower_bound(places, all_[at_], {}, &Place::seq);
  return static_cast<size_t>(place - places.begin());
}

void LoneHoles::see(std::span<const Place> a, std::span<const Place> b) {
  while (true) {
    const auto next_a = a_.next(a), next_b = b_.next(b);
    if (!next_a && !next_b) return;
    const bool is_a = next_a && (!next_b || *next_a <= *next_b);
    const bool is_b = next_b && (!next_a || *next_b <= *next_a);
    if (is_a) a_.pass(a[*next_a].seq);
    if (is_b) b_.pass(b[*next_b].seq);
    if (is_a && !is_b && !in_a_) in_a_ = a[*next_a].seq;
    if (is_b && !is_a && !in_b_) in_b_ = b[*next_b].seq;
  }
}

void LoneHoles::meet(uint64_t seq_a, uint64_t seq_b) {
  a_.pass(seq_a);
  b_.pass(seq_b);
  in_a_ = in_b_ = std::nullopt;
}

}  // namespace tracewell::timeline
