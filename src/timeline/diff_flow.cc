#include "timeline/diff_flow.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "model/batch.h"
#include "timeline/read_ahead.h"

namespace tracewell::timeline {
namespace {

constexpr uint64_t kWorthAThread = 1 << 18;  // steps

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
        if (const auto* step = std::get_if<Step>(&event.body)) add(places, event, *step);
    }
    return true;
  }

 private:
  static void add(std::vector<Place>& places, const Event& event, const Step& step) {
    Place& place = places.emplace_back();
    place.pc = step.pc;
    place.tid = event.tid;
    place.seq = event.seq;
    const size_t size = std::min<size_t>(step.opcode.size(), 15);
    std::copy_n(step.opcode.begin(), size, place.code.begin());
    place.code[15] = static_cast<uint8_t>(size);
  }

  std::unique_ptr<Source> source_;
  Batch batch_;
};

}  // namespace

Result<std::unique_ptr<StepFlow>> open_flow(const StepIndex& steps, uint64_t seq) {
  if (auto flow = steps.flow_at(seq)) return flow;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, steps.open_at(seq));
  return std::unique_ptr<StepFlow>(std::make_unique<EventFlow>(std::move(source)));
}

void FlowThreads::see(std::span<const Place> places) {
  if (places.empty() || places.front().seq > seen_to_ || places.back().seq < seen_to_) return;
  Thread* current = nullptr;
  for (const Place& place : places) {
    if (place.seq < seen_to_) continue;
    if (current == nullptr || current->tid != place.tid) {
      const auto known = std::find_if(threads_.begin(), threads_.end(),
                                      [&](const Thread& one) { return one.tid == place.tid; });
      if (known == threads_.end()) {
        threads_.push_back({place.tid, place.seq, place.seq});
        current = &threads_.back();
      } else {
        current = &*known;
      }
    }
    current->last = place.seq;
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
    TW_ASSIGN_OR_RETURN(const bool more, flow->next(places));
    if (!more) break;
    see(places);
  }
  const Thread* const found = number < threads_.size() ? &threads_[number] : nullptr;
  return found;
}

bool FlowThreads::over(size_t number, uint64_t seq) const {
  return seen_to_ >= steps_.count() && number < threads_.size() && seq > threads_[number].last;
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
  return std::span<const Place>(places_).subspan(at_);
}

}  // namespace tracewell::timeline
