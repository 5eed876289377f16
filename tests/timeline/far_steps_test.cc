// Steps beyond 2^32: x64dbg's own numbers end there, ours do not. What comes before them is an
// index of which somebody else says so, so that nobody has to take so many steps.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/search.h"
#include "timeline/store/step_store.h"

namespace tracewell::timeline::test {
namespace {

constexpr uint64_t kFar = (uint64_t{1} << 32) + 1234;  // of the first step that there is
constexpr uint64_t kSteps = 3000;

/// A store whose steps have other numbers.
class FarSteps final : public StepIndex {
 public:
  explicit FarSteps(const StepStore& store) : store_(store) {}
  uint64_t count() const override { return kFar + store_.count(); }
  Status seek(uint64_t) override { return {}; }
  Status state_before(uint64_t, Moment&) override { return {}; }
  std::span<const uint64_t> keyframes() const override { return first_; }
  std::span<const uint64_t> sessions() const override { return first_; }
  Result<std::unique_ptr<Source>> open_at(uint64_t seq) const override {
    return store_.open_at(seq - kFar);
  }
  Result<bool> refresh() override { return false; }

 private:
  const StepStore& store_;
  std::vector<uint64_t> first_ = {0};
};

class BytesSink final : public IndexSink {
 public:
  Status append(Bytes bytes) override {
    out->insert(out->end(), bytes.begin(), bytes.end());
    return {};
  }
  Status rewrite_head(Bytes bytes) override {
    std::copy(bytes.begin(), bytes.end(), out->begin());
    return {};
  }
  uint64_t size() const override { return out->size(); }
  std::shared_ptr<std::vector<uint8_t>> out = std::make_shared<std::vector<uint8_t>>();
};

/// Of steps in which nothing happened; the last one is not taken over.
Index quiet_index() {
  Index out;
  uint64_t first = 0;
  for (const uint64_t end : {uint64_t{UINT32_MAX} - 1, kFar, kFar + 1}) {
    Segment segment;
    segment.first = first;
    segment.count = end - first;
    segment.session = 1;
    segment.sums = std::make_shared<Sums>(Bytes(), Bytes(), out.damaged);
    out.segments.push_back(segment);
    first = end;
  }
  return out;
}

TEST(FarSteps, AreAnsweredAsNearOnes) {
  RandomSteps trace(5, {.steps = kSteps, .threads = 3});
  const Naive naive(trace.catalog, trace.events());
  tracewell::test::ListSource source(trace.catalog, trace.events());
  const auto store = *StepStore::read(source);
  const FarSteps far(*store);
  BuildOptions options;
  options.segment_steps = 700;
  const Index old = quiet_index();
  BytesSink sink;
  ASSERT_TRUE(build_index(far, trace.catalog, {}, &old, options, sink).ok());
  auto index = read_index(*sink.out, sink.out);
  ASSERT_TRUE(index);
  const Timeline timeline(*std::move(index));
  ASSERT_EQ(timeline.steps(), kFar + kSteps);
  const auto same = [](const Naive::Answer& wanted, const std::optional<uint64_t>& got) {
    EXPECT_EQ(got.has_value(), wanted.has_value());
    if (got && wanted) {
      EXPECT_EQ(*got, kFar + *wanted);
    }
  };
  for (uint64_t at = 0; at <= kSteps; at += 3) {
    SCOPED_TRACE(at);
    const AddressRange pc = {0x401000 + at % 120, 0x401003 + at % 120};
    const AddressRange bytes = {0x7000 + at % 200, 0x7003 + at % 200};
    same(naive.next_execution(pc, at), timeline.next_execution(pc, kFar + at));
    same(naive.last_execution(pc, at), timeline.last_execution(pc, kFar + at));
    same(naive.next_access(bytes, kWrites, at), timeline.next_access(bytes, kWrites, kFar + at));
    same(naive.last_access(bytes, kReads, at), timeline.last_access(bytes, kReads, kFar + at));
    const auto reg = static_cast<uint32_t>(at % 18);
    same(naive.next_change(reg, ChangedBy::Instruction, at),
         timeline.next_change(reg, ChangedBy::Instruction, kFar + at));
    same(naive.last_step_of(100, at), timeline.last_step_of(100, kFar + at));
    if (at < kSteps) {
      EXPECT_EQ(timeline.thread_of(kFar + at), naive.tids_[at]);
      EXPECT_EQ(timeline.session_of(kFar + at).first, 0u);
    }
    NaiveByte byte;
    timeline.memory(kFar + at, bytes.first, {&byte.value, 1}, {&byte.state, 1});
    EXPECT_TRUE(byte == naive.byte(at, bytes.first));
  }
  // From the near end, across all that is quiet.
  same(naive.next_execution({0, UINT64_MAX}, 0), timeline.next_execution({0, UINT64_MAX}, 0));
  EXPECT_FALSE(timeline.last_execution({0, UINT64_MAX}, kFar));
  size_t hits = 0;
  EXPECT_TRUE(find_bytes(timeline, std::vector<uint8_t>{1}, [&](const BytesHit& hit) {
    EXPECT_GE(hit.last, kFar);
    EXPECT_LE(hit.last, kFar + kSteps);
    return ++hits < 1000;
  }));
  EXPECT_GT(hits, 0u);
}

}  // namespace
}  // namespace tracewell::timeline::test
