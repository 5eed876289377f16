#include "filter/merge.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tracewell::filter {
namespace {

struct At {
  std::optional<int64_t> time_ns;
  int32_t cpu = 0;
};

using List = std::vector<At>;

/// Two events a batch; their tid is their number.
class ListSource final : public Source {
 public:
  explicit ListSource(std::vector<At> events, bool fails = false)
      : events_(std::move(events)), fails_(fails) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 2 && at_ < events_.size(); ++i, ++at_) {
      Event& event = batch.add();
      event.time_ns = events_[at_].time_ns;
      event.cpu = events_[at_].cpu;
      event.tid = at_;
    }
    if (fails_ && at_ == events_.size()) return {Errc::Corrupt, "broken"};
    return !batch.empty();
  }
  void more(At event) { events_.push_back(event); }

 private:
  Catalog catalog_;
  std::vector<At> events_;
  bool fails_;
  size_t at_ = 0;
};

/// "a0 b0 …": source and number.
std::string order(Merge& merge) {
  std::string out;
  Merge::Item item;
  while (merge.next(item)) {
    if (!out.empty()) out += ' ';
    out += static_cast<char>('a' + item.source);
    out += static_cast<char>('0' + item.event->tid);
  }
  return out;
}

TEST(Merge, ByTimeThenProcessorThenSource) {
  ListSource a(List{{1, 1}, {5, 2}, {6, 0}}), b(List{{1, 0}, {5, 2}, {5, 2}, {9, 0}}), c(List{});
  Merge merge;
  for (ListSource* source : {&a, &b, &c}) merge.add(*source);
  EXPECT_EQ(order(merge), "b0 a0 a1 b1 b2 a2 b3");
  Merge::Item item;
  EXPECT_FALSE(merge.next(item));
}

TEST(Merge, EventsWithoutTimeStayBehindTheirNeighbours) {
  ListSource a(List{{5}, {std::nullopt}, {7}}), b(List{{std::nullopt}, {4}, {6}});
  Merge merge;
  merge.add(a);
  merge.add(b);
  EXPECT_EQ(order(merge), "b0 b1 a0 a1 b2 a2");
}

TEST(Merge, ASourceThatFailsEndsAndTheOthersGoOn) {
  ListSource a(List{{1}, {2}, {3}}, true), b(List{{2}, {9}});
  Merge merge;
  merge.add(a);
  merge.add(b);
  EXPECT_EQ(order(merge), "a0 a1 b0 a2 b1");
  EXPECT_FALSE(merge.status(0).ok());
  EXPECT_TRUE(merge.status(1).ok());
}

TEST(Merge, ASourceThatHasEndedCanBeAskedAgain) {
  ListSource a(List{{1}}), b(List{{2}});
  Merge merge;
  merge.add(a);
  merge.add(b);
  EXPECT_EQ(order(merge), "a0 b0");
  a.more({4});
  b.more({3});
  EXPECT_EQ(order(merge), "");
  merge.ask_again(0);
  merge.ask_again(1);
  EXPECT_EQ(order(merge), "b1 a1");
}

}  // namespace
}  // namespace tracewell::filter
