// Events of a test as a source.
#pragma once

#include <span>

#include "base/result.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "model/event.h"
#include "model/stream.h"

namespace tracewell::timeline::test {

/// Hands out events that somebody else owns.
class EventSource final : public Source {
 public:
  EventSource(const Catalog& catalog, std::span<const Event> events)
      : catalog_(catalog), events_(events) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (size_t i = 0; i < 100 && !events_.empty(); ++i) {
      Event& event = batch.add();
      event = events_.front();
      events_ = events_.subspan(1);
    }
    return !batch.empty();
  }

 private:
  const Catalog& catalog_;
  std::span<const Event> events_;
};

}  // namespace tracewell::timeline::test
