#include "agent/fast/read_pace.h"

#include <gtest/gtest.h>

namespace tracewell::agent {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kRing = 16 << 10;
constexpr std::chrono::microseconds kTick = 10ms, kWithTicks = 0us, kOften = 500us, kAlways = 20us;

/// Reads rings as often as it is told to, until a time.
class Reader {
 public:
  using Hits = uint64_t(std::chrono::microseconds since, std::chrono::microseconds now);

  std::chrono::microseconds read_until(std::chrono::microseconds end, Hits* bytes_between) {
    while (now_ < end) {
      const auto before = now_;
      now_ += pause_ == kWithTicks ? kTick : pause_ + 55us;  // to read takes a moment as well
      bytes_ += bytes_between(before, now_);
      pause_ = pace_.after_read(ReadPace::Time() + 1h + now_, bytes_, kRing);
      ++reads_;
    }
    return pause_;
  }
  void stand(std::chrono::microseconds time) { now_ += time; }
  int reads() const { return reads_; }

 private:
  ReadPace pace_;
  std::chrono::microseconds now_{}, pause_{};
  uint64_t bytes_ = 0;
  int reads_ = 0;
};

uint64_t nothing(std::chrono::microseconds, std::chrono::microseconds) { return 0; }
uint64_t much(std::chrono::microseconds since, std::chrono::microseconds now) {
  return static_cast<uint64_t>((now - since) / 1us);  // an eighth of a ring each two milliseconds
}
/// A hit of the smallest size, twenty times a second.
uint64_t little(std::chrono::microseconds since, std::chrono::microseconds now) {
  return now / 50ms != since / 50ms ? 32 : 0;
}

TEST(ReadPace, IsOftenAtFirst) {
  Reader reader;
  EXPECT_EQ(reader.read_until(400ms, nothing), kOften);
  EXPECT_EQ(reader.read_until(600ms, nothing), kWithTicks);
}

TEST(ReadPace, IsAllTheTimeWhereRingsFill) {
  Reader reader;
  EXPECT_EQ(reader.read_until(2s, nothing), kWithTicks);
  EXPECT_EQ(reader.read_until(2s + 2 * kTick, much), kAlways);
  EXPECT_EQ(reader.read_until(10s, much), kAlways);
  EXPECT_EQ(reader.read_until(10s + 90ms, nothing), kAlways);
  EXPECT_EQ(reader.read_until(10s + 200ms, nothing), kOften);
  EXPECT_EQ(reader.read_until(14900ms, nothing), kOften);
  EXPECT_EQ(reader.read_until(15100ms, nothing), kWithTicks);
}

// Between two reads one hit may be much, for a small ring; but more do not follow it.
TEST(ReadPace, IsWithTicksWhereHitsAreFew) {
  Reader reader;
  (void)reader.read_until(1s, much);
  EXPECT_EQ(reader.read_until(7s, little), kWithTicks);
  const int before = reader.reads();
  EXPECT_EQ(reader.read_until(17s, little), kWithTicks);
  EXPECT_EQ(reader.reads() - before, 1000);
}

TEST(ReadPace, IsOftenAgainAsAProgramGoesOn) {
  Reader reader;
  EXPECT_EQ(reader.read_until(2s, little), kWithTicks);
  reader.stand(3s);
  EXPECT_EQ(reader.read_until(5s + 2 * kTick, nothing), kOften);
  EXPECT_EQ(reader.read_until(5s + 600ms, nothing), kWithTicks);
}

}  // namespace
}  // namespace tracewell::agent
