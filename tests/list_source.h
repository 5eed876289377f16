// Events of a test as a source.
#pragma once

#include <span>
#include <utility>

#include "base/result.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "model/event.h"
#include "model/stream.h"

namespace tracewell::test {

/// Hands out events that somebody else owns, so many a batch.
class ListSource final : public Source {
 public:
  ListSource(Catalog catalog, std::span<const Event> events, size_t in_a_batch = 100)
      : catalog_(std::move(catalog)), events_(events), in_a_batch_(in_a_batch) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (size_t i = 0; i < in_a_batch_ && !events_.empty(); ++i) {
      batch.add() = events_.front();
      events_ = events_.subspan(1);
    }
    return !batch.empty();
  }

 private:
  Catalog catalog_;
  std::span<const Event> events_;
  size_t in_a_batch_;
};

}  // namespace tracewell::test
