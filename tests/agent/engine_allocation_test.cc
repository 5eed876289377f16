// A hit allocates nothing once the engine is warm.
#include <string>

#include <gtest/gtest.h>

#include "counted_allocations.h"
#include "engine_world.h"

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
