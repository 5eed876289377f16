#include "timeline/diff/holes.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <variant>

#include "model/batch.h"
#include "model/lost_count.h"

namespace tracewell::timeline {
namespace {

/// The first of the numbers from `from` up to `end` for which `holds` does not; for those behind
/// it, it does not either. Takes the time of its distance's logarithm.
template <class Holds>
size_t first_not(size_t from, size_t end, Holds holds) {
  size_t low = from;  // all in front of it hold
  for (size_t width = 1; low < end && holds(low); width *= 2) {
    const size_t next = std::min(low + width, end);
    if (next == end || !holds(next)) {
      end = next;
      ++low;
      break;
    }
    low = next;
  }
  while (low < end) {
    const size_t middle = low + (end - low) / 2;
    if (holds(middle))
      low = middle + 1;
    else
      end = middle;
  }
  return low;
}

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
          hole = Hole{seq, lost_count(lost->count)};
        else
          hole->count = lost_together(hole->count, lost->count);
      }
      if (std::holds_alternative<Step>(event.body) && event.seq >= seq) return {};
    }
  }
}

}  // namespace

HoleList::HoleList(const StepIndex& steps) : steps_(steps) {
  std::ranges::set_difference(steps.stretches(), steps.sessions(), std::back_inserter(behind_));
  for (const uint64_t seq : steps.stretches())
    if (seq < steps.count()) places_.push_back(seq);
  places_.push_back(steps.count());
  unread_.resize(places_.size() + 1);
  std::iota(unread_.begin(), unread_.end(), 0u);
  missing_ = unread_;
  counted_.resize(places_.size() + 1);
  unknown_.resize(places_.size() + 1);
}

Status HoleList::look_at_borders() {
  std::vector<uint64_t> more;
  for (const uint64_t seq : steps_.sessions()) {
    if (seq >= steps_.count()) continue;
    TW_ASSIGN_OR_RETURN(const std::optional<Hole> hole,
                        find(seq == 0 ? std::nullopt : std::optional(seq - 1), seq));
    if (hole) more.push_back(seq);
  }
  const size_t before = behind_.size();
  behind_.insert(behind_.end(), more.begin(), more.end());
  std::ranges::inplace_merge(behind_, behind_.begin() + static_cast<ptrdiff_t>(before));
  if (steps_.count() == 0) return {};
  TW_ASSIGN_OR_RETURN(const std::optional<Hole> end, find(steps_.count() - 1, std::nullopt));
  misses_end_ = end.has_value();
  return {};
}

/// Follows links up to one that leads to itself, and shortens them.
size_t HoleList::next(std::vector<uint32_t>& links, size_t at) {
  while (links[at] != at) at = links[at] = links[links[at]];
  return at;
}

void HoleList::add(std::vector<uint64_t>& sums, size_t at, uint64_t value) {
  for (++at; at < sums.size(); at += at & (~at + 1)) sums[at] += value;
}

uint64_t HoleList::sum(const std::vector<uint64_t>& sums, size_t count) {
  uint64_t out = 0;
  for (; count != 0; count &= count - 1) out += sums[count];
  return out;
}

/// Places `from` up to `to`, as far as they have not been read.
Status HoleList::read(size_t from, size_t to) {
  for (size_t at = next(unread_, from); at < to; at = next(unread_, at)) {
    std::optional<Hole> hole;
    TW_RETURN_IF_ERROR(add_losses(steps_, places_[at], hole));
    unread_[at] = static_cast<uint32_t>(at + 1);
    if (!hole) missing_[at] = static_cast<uint32_t>(at + 1);
    if (hole && hole->count != 0) add(counted_, at, hole->count);
    if (hole && hole->count == 0) add(unknown_, at, 1);
  }
  return {};
}

Result<std::optional<Hole>> HoleList::find(std::optional<uint64_t> after,
                                           std::optional<uint64_t> to) {
  const auto number = [&](auto place) { return static_cast<size_t>(place - places_.begin()); };
  const size_t from = number(std::ranges::lower_bound(places_, after ? *after + 1 : 0));
  const size_t end = number(std::ranges::upper_bound(places_, to.value_or(steps_.count())));
  if (from >= end) return std::optional<Hole>();
  TW_RETURN_IF_ERROR(read(from, end));
  const size_t first = next(missing_, from);
  if (first >= end) return std::optional<Hole>();
  Hole hole{places_[first], 0};
  if (sum(unknown_, end) == sum(unknown_, from))
    hole.count = sum(counted_, end) - sum(counted_, from);
  return std::optional(hole);
}

void Holes::skip(uint64_t seq) {
  at_ = first_not(at_, all_.size(), [&](size_t i) { return all_[i] <= seq; });
}

size_t Holes::find(std::span<const Place> places, size_t from) const {
  return first_not(from, places.size(), [&](size_t i) { return places[i].seq < all_[at_]; });
}

void LoneHoles::see(std::span<const Place> a, std::span<const Place> b) {
  while (true) {
    const auto next_a = a_.next(a), next_b = b_.next(b);
    if (!next_a && !next_b) return;
    const bool is_a = next_a && (!next_b || *next_a <= *next_b);
    const bool is_b = next_b && (!next_a || *next_b <= *next_a);
    if (is_a && !in_a_) in_a_ = Lone{a_.first(), a[*next_a].seq, false};
    if (is_b && !in_b_) in_b_ = Lone{b_.first(), b[*next_b].seq, false};
    if (is_a) a_.pass(a[*next_a].seq);
    if (is_b) b_.pass(b[*next_b].seq);
  }
}

std::vector<size_t> LoneHoles::ahead(Holes holes, std::span<const Place> places) {
  std::vector<size_t> out;
  while (const auto next = holes.next(places, out.empty() ? 0 : out.back())) {
    out.push_back(*next);
    holes.pass(places[*next].seq);
  }
  return out;
}

void LoneHoles::meet(uint64_t seq_a, uint64_t seq_b) {
  in_a_ = in_b_ = std::nullopt;
  a_.pass(seq_a);
  b_.pass(seq_b);
}

void LoneHoles::meet_in_doubt(uint64_t seq_a, uint64_t seq_b, const std::optional<Hole>& hole_a,
                              const std::optional<Hole>& hole_b) {
  if (!in_a_ && hole_a) in_a_ = Lone{hole_a->seq, std::max(hole_a->seq, seq_a), true};
  if (!in_b_ && hole_b) in_b_ = Lone{hole_b->seq, std::max(hole_b->seq, seq_b), true};
  if (hole_a) in_a_->told = true;
  if (hole_b) in_b_->told = true;
  a_.pass(seq_a);
  b_.pass(seq_b);
}

void LoneHoles::settle() {
  if (!settled_a_) settled_a_ = in_a_;
  if (!settled_b_) settled_b_ = in_b_;
  in_a_ = in_b_ = std::nullopt;
}

}  // namespace tracewell::timeline
