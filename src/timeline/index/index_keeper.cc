#include "timeline/index/index_keeper.h"

#include <algorithm>

namespace tracewell::timeline {
namespace {

constexpr size_t kTimes = 3;  // where indices are damaged as soon as they are made, they stay so

}  // namespace

IndexKeeper::IndexKeeper(Index index, Make make, Make make_whole)
    : make_(std::move(make)), make_whole_(std::move(make_whole)) {
  all_.push_back(std::make_unique<const Index>(std::move(index)));
  now_ = all_.back().get();
}

bool IndexKeeper::replace(const Index& index) {
  const std::lock_guard lock(mutex_);
  if (now_ != &index) return true;
  const bool wanted = index.wanted->load(std::memory_order_relaxed);
  Make& make = wanted ? make_whole_ : make_;
  const auto give_up = [&] {
    index.damaged->store(true, std::memory_order_relaxed);  // who was told less shall know
    make = {};
    return false;
  };
  if (!make || all_.size() > kTimes) return give_up();
  auto made = make();
  if (!made || made->steps() != index.steps()) return give_up();
  all_.push_back(std::make_unique<const Index>(*std::move(made)));
  now_.store(all_.back().get(), std::memory_order_release);
  return true;
}

const Index& IndexKeeper::whole(const std::function<void(const Index&)>& look) {
  const Index* out = nullptr;
  ask([&](const Index& index) {
    out = &index;
    const bool good = std::all_of(index.segments.begin(), index.segments.end(),
                                  [](const Segment& one) { return one.good(); });
    if (look) look(index);
    return good;
  });
  return *out;
}

}  // namespace tracewell::timeline
