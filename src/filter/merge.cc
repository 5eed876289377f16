#include "filter/merge.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace tracewell::filter {

bool Merge::Place::operator>(const Place& other) const {
  return std::tie(time_ns, cpu, source) > std::tie(other.time_ns, other.cpu, other.source);
}

void Merge::add(Source& source) {
  Input& input = inputs_.emplace_back();
  input.source = &source;
  queue(inputs_.size() - 1);
}

void Merge::ask_again(size_t source) {
  Input& input = inputs_[source];
  if (!input.ended || !input.status.ok()) return;
  input.ended = false;
  queue(source);
}

/// Is there an event? Reads the next batch if need be.
bool Merge::fill(Input& input) {
  while (!input.ended && input.at == input.batch.size()) {
    input.at = 0;
    Result<bool> more = input.source->next(input.batch);
    if (!more.ok()) input.status = more.error();
    // What came along with an error is whole.
    input.ended = !more.ok() || !*more;
  }
  return input.at < input.batch.size();
}

void Merge::queue(size_t source) {
  Input& input = inputs_[source];
  if (!fill(input)) return;
  const Event& event = input.batch.events()[input.at];
  if (event.time_ns) input.last_ns = *event.time_ns;
  heap_.push_back({input.last_ns, event.cpu, source});
  std::ranges::push_heap(heap_, std::greater<>());
}

bool Merge::next(Item& item) {
  if (taken_ != SIZE_MAX) {
    Input& input = inputs_[taken_];
    ++input.at;
    if (inputs_.size() == 1 && input.at < input.batch.size()) {
      item = {0, &input.batch.events()[input.at]};
      if (item.event->time_ns) input.last_ns = *item.event->time_ns;
      return true;
    }
    queue(std::exchange(taken_, SIZE_MAX));
  }
  if (heap_.empty()) return false;
  std::ranges::pop_heap(heap_, std::greater<>());
  const size_t source = heap_.back().source;
  heap_.pop_back();
  taken_ = source;
  const Input& input = inputs_[source];
  item = {source, &input.batch.events()[input.at]};
  return true;
}

}  // namespace tracewell::filter
