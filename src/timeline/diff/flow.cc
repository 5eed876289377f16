#include "timeline/diff/flow.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "model/batch.h"
#include "timeline/diff/read_ahead.h"

namespace tracewell::timeline {
namespace {

constexpr uint64_t kWorthAThread = 1 << 18;  // steps
// Places of threads with few steps that are kept at once: enough for a long trace to be read some
// dozens of times at most.
constexpr uint64_t kKeptMin = 1 << 20, kKeptMax = 1 << 22, kKeptPart = 64;

/// For formats that have nothing quicker.
class EventFlow final : public StepFlow {
 public:
  explicit EventFlow(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  Result<bool> next(std::vector<Place>& places) override {
    const size_t before = places.size();
    while (places.size() == before) {
      TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch_));
      if (!more) return false;
      for (const Event& event : batch_.events())
        if (const auto* step = std::get_if<Step>(&event.body))
          places.push_back(place_of(event.tid, event.seq, *step));
    }
    return true;
  }

 private:
  std::unique_ptr<Source> source_;
  Batch batch_;
};

}  // namespace

Result<std::unique_ptr<StepFlow>> open_flow(const StepIndex& steps, uint64_t seq) {
  if (auto flow = steps.flow_at(seq)) return flow;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, steps.open_at(seq));
  return std::unique_ptr<StepFlow>(std::make_unique<EventFlow>(std::move(source)));
}

Place place_of(uint64_t tid, uint64_t seq, const Step& step) {
  Place place;
  place.pc = step.pc;
  place.tid = tid;
  place.seq = seq;
  const size_t size = std::min<size_t>(step.opcode.size(), 15);
  std::copy_n(step.opcode.begin(), size, place.code.begin());
  place.code[15] = static_cast<uint8_t>(size);
  return place;
}

void FlowThreads::see(std::span<const Place> places) {
  if (places.empty() || places.front().seq > seen_to_ || places.back().seq < seen_to_) return;
  const size_t known = static_cast<size_t>(seen_to_ - places.front().seq);
  // Threads seldom take turns, so runs are looked at, not steps.
  for (size_t at = known, end = known; at < places.size(); at = end) {
    const uint64_t tid = places[at].tid;
    while (end < places.size() && places[end].tid == tid) ++end;
    const auto [number, is_new] = numbers_.try_emplace(tid, threads_.size());
    if (is_new) threads_.push_back({tid, places[at].seq, 0, 0});
    Thread& thread = threads_[number->second];
    thread.last = places[end - 1].seq;
    thread.count += end - at;
  }
  seen_to_ = places.back().seq + 1;
}

Result<const FlowThreads::Thread*> FlowThreads::thread(size_t number) {
  std::unique_ptr<StepFlow> flow;
  std::vector<Place> places;
  while (number >= threads_.size() && seen_to_ < steps_.count()) {
    if (!flow) {
      TW_ASSIGN_OR_RETURN(flow, open_flow(steps_, seen_to_));
    }
    places.clear();
    TW_RETURN_IF_ERROR(work_.go_on());
    TW_ASSIGN_OR_RETURN(const bool more, flow->next(places));
    if (!more) break;
    see(places);
  }
  const Thread* const found = number < threads_.size() ? &threads_[number] : nullptr;
  return found;
}

Result<size_t> FlowThreads::count() {
  TW_ASSIGN_OR_RETURN(const Thread* none, thread(SIZE_MAX));
  static_cast<void>(none);
  return threads_.size();
}

std::optional<size_t> FlowThreads::number_of(uint64_t tid) const {
  const auto found = numbers_.find(tid);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

bool FlowThreads::over(size_t number, uint64_t seq) const {
  return all_seen() && number < threads_.size() && seq > threads_[number].last;
}

uint64_t FlowThreads::most_kept() const {
  return std::clamp(steps_.count() / kKeptPart, kKeptMin, kKeptMax);
}

Result<std::shared_ptr<const Places>> FlowThreads::kept(size_t number) {
  // Who compares the first thread reads the whole trace in any case.
  if (number == 0 || !all_seen() || number >= threads_.size() ||
      threads_[number].count > most_kept())
    return std::shared_ptr<const Places>();
  if (!kept_.contains(number)) TW_RETURN_IF_ERROR(keep_from(number));
  return std::shared_ptr<const Places>(kept_.at(number));
}

Status FlowThreads::keep_from(size_t number) {
  kept_.clear();
  uint64_t from = threads_[number].first, last = 0, total = 0;
  for (size_t i = number; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    if (thread.count > most_kept()) continue;  // read by itself
    if (total + thread.count > most_kept()) break;
    total += thread.count;
    last = std::max(last, thread.last);
    const auto places = std::make_shared<Places>();
    places->reserve(static_cast<size_t>(thread.count));
    kept_.emplace(i, places);
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<StepFlow> flow, open_flow(steps_, from));
  Places places;
  while (from <= last) {
    places.clear();
    TW_RETURN_IF_ERROR(work_.go_on());
    TW_ASSIGN_OR_RETURN(const bool more, flow->next(places));
    if (!more) break;
    for (size_t at = 0, end = 0; at < places.size(); at = end) {
      while (end < places.size() && places[end].tid == places[at].tid) ++end;
      const auto thread = numbers_.find(places[at].tid);
      const auto kept = thread == numbers_.end() ? kept_.end() : kept_.find(thread->second);
      if (kept != kept_.end())
        kept->second->insert(kept->second->end(), places.begin() + static_cast<ptrdiff_t>(at),
                             places.begin() + static_cast<ptrdiff_t>(end));
    }
    from = places.back().seq + 1;
  }
  return {};
}

Result<ThreadFlow> ThreadFlow::open(FlowThreads& threads, size_t number, uint64_t from,
                                    Reading reading) {
  ThreadFlow out(threads, number);
  TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* thread, threads.thread(number));
  if (thread == nullptr) {
    out.over_ = true;
    return out;
  }
  out.tid_ = thread->tid;
  TW_ASSIGN_OR_RETURN(out.kept_, threads.kept(number));
  if (out.kept_) {
    const auto first = std::ranges::lower_bound(*out.kept_, from, {}, &Place::seq);
    out.kept_from_ = static_cast<size_t>(first - out.kept_->begin());
    out.over_ = true;
    return out;
  }
  TW_ASSIGN_OR_RETURN(out.flow_, open_flow(threads.steps(), std::max(from, thread->first)));
  if (reading == Reading::InThread && threads.steps().count() > kWorthAThread)
    out.flow_ = read_ahead(std::move(out.flow_));
  return out;
}

Result<std::span<const Place>> ThreadFlow::ahead(size_t wanted) {
  if (places_.size() - at_ < wanted && !over_ && at_ > 4 * kBack) {
    const size_t dropped = at_ - kBack;
    places_.erase(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(dropped));
    at_ = kBack;
  }
  while (places_.size() - at_ < wanted && !over_) {
    const size_t before = places_.size();
    TW_RETURN_IF_ERROR(threads_->work().go_on());
    TW_ASSIGN_OR_RETURN(const bool more, flow_->next(places_));
    if (!more) {
      over_ = true;
      break;
    }
    const std::span<const Place> news(places_.data() + before, places_.size() - before);
    threads_->see(news);
    over_ = threads_->over(number_, news.back().seq + 1);
    const auto others = [&](const Place& place) { return place.tid != tid_; };
    places_.erase(std::remove_if(places_.begin() + static_cast<ptrdiff_t>(before), places_.end(),
                                 others),
                  places_.end());
  }
  return all().subspan(at_);
}

}  // namespace tracewell::timeline
