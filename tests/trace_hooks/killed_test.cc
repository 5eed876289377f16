// Programs that fire hooks at full speed and are killed at random moments: every hook that was done
// is in the log, or counted as lost. TRACEWELL_ROUNDS=200 for a long run.
#include <poll.h>

#include <algorithm>
#include <random>
#include <regex>

#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

constexpr unsigned kThreads = 8;

uint64_t rounds() {
  const char* text = std::getenv("TRACEWELL_ROUNDS");
  return text ? std::strtoull(text, nullptr, 10) : 8;
}

/// Numbers that are missing between the first and the last.
uint64_t gaps(const std::vector<uint64_t>& numbers) {
  EXPECT_TRUE(std::ranges::is_sorted(numbers, std::less_equal<>()));
  return numbers.empty() ? 0 : numbers.back() + 1 - numbers.front() - numbers.size();
}

uint64_t counted_by_babeltrace(const std::string& log, const std::string& what) {
  std::string out;
  EXPECT_EQ(World::shell("babeltrace2 '" + log + "' -c sink.utils.counter 2>&1", out), 0) << out;
  // It tells its counts now and then; the last ones are of everything.
  const std::regex line("(\\d+) " + what + " message");
  uint64_t last = 0;
  for (std::sregex_iterator one(out.begin(), out.end(), line), end; one != end; ++one)
    last = std::stoull((*one)[1]);
  return last;
}

void check(const World&, const Counts* counts, const LogStory& story, Buffering buffering) {
  EXPECT_TRUE(story.problems.empty()) << story.problems[0];
  EXPECT_TRUE(story.times_ascend);
  for (unsigned i = 0; i < kThreads; ++i) {
    const Counts& one = counts[i];
    if (one.tid == 0) continue;
    const auto found = story.threads.find(one.tid);
    const ThreadStory thread = found == story.threads.end() ? ThreadStory{} : found->second;
    SCOPED_TRACE(one.tid);
    const uint64_t seen = thread.numbers.size() + thread.handler_numbers.size();
    EXPECT_GE(seen + thread.lost, one.done + one.handler_done);
    EXPECT_LE(seen + thread.lost, one.begun + one.handler_begun);
    EXPECT_LE(gaps(thread.numbers) + gaps(thread.handler_numbers), thread.lost);
    if (buffering != Buffering::Circular && !thread.numbers.empty()) {
      EXPECT_EQ(thread.numbers.front(), 0u);
    }
  }
}

void run_round(Buffering buffering, uint64_t seed, bool kill_collector) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  World world;
  SessionOptions options = world.options(buffering, uint64_t{64} << 10 << random() % 4);
  options.record_cpus = random() % 2;
  world.start(options);
  const pid_t collector = buffering == Buffering::Alternate ? world.start_collector() : 0;
  const pid_t child = World::run("hook_hammer", {world.counts_path(), std::to_string(kThreads), "0",
                                                 random() % 2 ? "50" : "0"});
  // Not before all threads are at it, for some microseconds to milliseconds.
  const auto all_begun = [&] {
    return std::all_of(world.counts(), world.counts() + kThreads, [](const Counts& one) {
      return reinterpret_cast<const volatile uint64_t&>(one.done) > 0;
    });
  };
  while (!all_begun()) usleep(100);
  usleep(static_cast<useconds_t>(random() % 20'000));
  if (kill_collector) kill(collector, SIGKILL);
  kill(child, SIGKILL);
  World::wait_for(child);
  const LogStory before = read_log(world.log());
  world.stop();
  if (collector) World::wait_for(collector);
  const LogStory story = read_log(world.log());
  check(world, world.counts(), story, buffering);
  EXPECT_EQ(story.hooks_with_cpu, options.record_cpus ? story.hooks : 0);
  EXPECT_EQ(counted_by_babeltrace(world.log(), "Event"), story.events);
  // What can be read of the rings themselves is what they give in the end; a collector that is
  // alive takes packets away meanwhile.
  if (!collector || kill_collector) check(world, world.counts(), before, buffering);
}

TEST(HooksKilled, Alternate) {
  for (uint64_t i = 0; i < rounds() && !HasFailure(); ++i)
    run_round(Buffering::Alternate, i, false);
}
TEST(HooksKilled, AlternateWithItsCollector) {
  for (uint64_t i = 0; i < rounds() && !HasFailure(); ++i)
    run_round(Buffering::Alternate, 1000 + i, true);
}
TEST(HooksKilled, Single) {
  for (uint64_t i = 0; i < rounds() && !HasFailure(); ++i)
    run_round(Buffering::Single, 2000 + i, false);
}
TEST(HooksKilled, Circular) {
  for (uint64_t i = 0; i < rounds() && !HasFailure(); ++i)
    run_round(Buffering::Circular, 3000 + i, false);
}

}  // namespace
}  // namespace tracewell::hooks::test
