// A hit allocates nothing once the engine is warm. Counts every operator new of this program,
// except under a sanitizer, which has an operator new of its own.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "engine_world.h"
#include "sanitized.h"

namespace {
std::atomic<uint64_t> allocations{0};
}

#ifndef TRACEWELL_SANITIZED
// Where they are inlined, g++ takes one for another's.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
#endif

namespace tracewell::agent::test {
namespace {

using EngineAllocation = EngineTest;

TEST_F(EngineAllocation, NoneWhenWarm) {
  world.fill(0x5000, std::string(300, 'x').append(1, 0));
  ASSERT_TRUE(engine.set_buffer_size(20000).ok());
  ASSERT_TRUE(engine.set_circular(true).ok());
  // getv 1, const8 0, equal, log_not, end
  ASSERT_TRUE(define("2:1000:E:2:0:X8,2c00012200130e27-").ok());
  ASSERT_TRUE(define("-2:1000:SR0f").ok());
  trace("R0fM-1,5000,40" + expression("2350002301002f27") + expression("2350000d082e000127"));
  Hit context(world, 0x1000);
  for (int i = 0; i < 200; ++i) {
    engine.on_hit(context);
    while (engine.on_step(context) == Next::Step) continue;
  }
  const uint64_t before = allocations;
  for (int i = 0; i < 200; ++i) {
    engine.on_hit(context);
    while (engine.on_step(context) == Next::Step) continue;
  }
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_TRUE(engine.running());
  EXPECT_GT(engine.status().frames_created, 800u);
}

}  // namespace
}  // namespace tracewell::agent::test
