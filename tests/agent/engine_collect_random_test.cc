// Random actions in a memory full of holes, against a collector that does one thing at a time.
#include <algorithm>
#include <random>
#include <string>
#include <vector>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine_world.h"

namespace tracewell::agent::test {
namespace {

using EngineCollectRandom = EngineTest;

struct Model {
  std::string blocks;
  bool fault = false;

  void add(const std::string& block) { blocks += (blocks.empty() ? "" : " ") + block; }
  void memory(World& world, uint64_t address, uint64_t size) {
    for (uint64_t done = 0; done < size;) {
      std::vector<uint8_t> bytes(std::min<uint64_t>(size - done, 65535));
      const size_t wanted = bytes.size();
      bytes.resize(world.read_memory(kPid, address + done, bytes));
      if (!bytes.empty()) add(fmt::format("M{:x}:{}", address + done, to_hex(bytes)));
      done += wanted;
      if (bytes.size() == wanted) continue;
      fault = true;
      return;
    }
  }
  void text(World& world, uint64_t address, uint64_t max) {
    uint64_t size = 0;
    for (bool ended = false; size < max && !ended; ++size) {
      const auto byte = world.memory.find(address + size);
      if (byte == world.memory.end()) {
        fault = true;
        break;
      }
      ended = byte->second == 0;
    }
    std::vector<uint8_t> bytes(size);
    world.read_memory(kPid, address, bytes);
    if (size > 0) add(fmt::format("M{:x}:{}", address, to_hex(bytes)));
  }
};

TEST_F(EngineCollectRandom, AgreesWithANaiveCollector) {
  std::mt19937 random(19);
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  for (uint64_t address = 0x4000; address < 0x6000;) {
    const uint32_t size = 1 + below(700);
    if (below(3) != 0)
      for (uint32_t i = 0; i < size; ++i)
        world.memory[address + i] = static_cast<uint8_t>(below(60) == 0 ? 0 : random());
    address += size;
  }
  for (uint64_t i = 0; i < 66000; ++i) world.memory[0x10000 + i] = static_cast<uint8_t>(i);

  for (int round = 0; round < 300; ++round) {
    ASSERT_TRUE(engine.reset().ok());
    Model model;
    std::string actions;
    bool registers = false;
    for (uint32_t i = 0, count = below(6); i < count; ++i) {
      const uint32_t address = below(12) == 0 ? 0x10000 + below(900) : 0x3ff0 + below(0x2020);
      const uint32_t size = address >= 0x10000 ? 65000 + below(500) : below(400);
      switch (below(4)) {
        case 0:
          actions += fmt::format("M-1,{:x},{:X}", address, size);
          model.memory(world, address, size);
          break;
        case 1:  // const32, const32, tracenz, end
          actions += expression(fmt::format("24{:08x}24{:08x}2f27", address, size));
          model.text(world, address, size);
          break;
        case 2:  // const32, const32, trace, tracev 5, end
          actions += expression(fmt::format("24{:08x}24{:08x}0c2e000527", address, size));
          model.memory(world, address, size);
          model.add("V5=0");
          break;
        default:
          actions += "R01";
          if (!registers) model.add("R");
          registers = true;
      }
    }
    ASSERT_TRUE(define("1:1000:E:0:0-").ok());
    ASSERT_TRUE(define("-1:1000:" + actions).ok() || actions.empty());
    ASSERT_TRUE(engine.start(kPid).ok());
    hit();
    ASSERT_EQ(blocks(0), model.blocks) << actions;
    ASSERT_EQ(engine.status().stop == Stop::Failed, model.fault) << actions;
    const RunStatus now = engine.status();
    ASSERT_EQ(engine.usage(1, 0x1000)->bytes, *now.buffer_size - *now.buffer_free);
  }
}

}  // namespace
}  // namespace tracewell::agent::test
