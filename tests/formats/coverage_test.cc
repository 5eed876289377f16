// Coverage of random walks through a made-up program, against a model that knows its blocks; drcov
// is read back by a parser of its own.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "formats/steps/basic_blocks.h"
#include "formats/support.h"

namespace tracewell::formats::test {
namespace {

using Block = std::tuple<size_t, uint64_t, uint64_t>;  // module, offset, size

/// What other tools' readers do: the table of modules, then records of 8 bytes.
std::set<Block> parse_drcov(const std::string& file, std::vector<uint64_t>& bases) {
  std::istringstream in(file);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "DRCOV VERSION: 2");
  std::getline(in, line);
  EXPECT_TRUE(line.starts_with("DRCOV FLAVOR: "));
  size_t modules = 0, count = 0;
  std::getline(in, line);
  EXPECT_EQ(std::sscanf(line.c_str(), "Module Table: version 2, count %zu", &modules), 1);
  std::getline(in, line);
  EXPECT_EQ(line, "Columns: id, base, end, entry, path");
  for (size_t i = 0; i < modules; ++i) {
    std::getline(in, line);
    size_t id = 0;
    unsigned long long base = 0, end = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "%zu, %llx, %llx,", &id, &base, &end), 3);
    EXPECT_EQ(id, i);
    bases.push_back(base);
  }
  std::getline(in, line);
  EXPECT_EQ(std::sscanf(line.c_str(), "BB Table: %zu bbs", &count), 1);
  const std::string rest = file.substr(static_cast<size_t>(in.tellg()));
  EXPECT_EQ(rest.size(), count * 8);
  std::set<Block> blocks;
  ByteReader reader(as_bytes(rest), Endian::Little);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t offset = *reader.uint(4), size = *reader.uint(2), module = *reader.uint(2);
    EXPECT_TRUE(blocks.emplace(module, offset, size).second);
  }
  return blocks;
}

/// A program of nops that ends every seventh instruction with a jump, in two modules.
struct Walk {
  explicit Walk(uint32_t seed) : random(seed) {
    catalog.machine = "x86-64";
    catalog.modules = {{"/bin/one", 0x1000, 0x1000, 0x1000, ""}, {"two.dll", 0, 0x9000, 0x800, ""}};
    std::map<uint64_t, uint64_t> pcs;
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t tid = 1 + random() % 3;
      uint64_t& pc = pcs[tid];
      if (pc == 0 || is_jump(pc)) pc = targets[random() % std::size(targets)] + random() % 64;
      else pc += 1 + (random() % 50 == 0);  // sometimes something is stepped over
      step(tid, pc);
    }
  }
  static bool is_jump(uint64_t pc) { return pc % 7 == 0; }
  void step(uint64_t tid, uint64_t pc) {
    // `jmp` is 2 bytes, a `nop` 1: the instruction behind a jump overlaps it, as hidden code does.
    static constexpr uint8_t kJump[] = {0xeb, 0x00}, kNop[] = {0x90};
    Step step;
    step.pc = pc;
    step.opcode = is_jump(pc) ? Bytes(kJump) : Bytes(kNop);
    Event& event = batch.add();
    event.seq = batch.size() - 1;
    event.tid = tid;
    event.body = step;
  }
  std::mt19937_64 random;
  Catalog catalog;
  Batch batch;
  static constexpr uint64_t targets[] = {0x1000, 0x1f00, 0x9000, 0x97c0, 0x20000};
};

TEST(Coverage, DrcovAndModoffOfRandomWalks) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Walk walk(seed);
    const auto& modules = walk.catalog.modules;
    const auto module_of = [&](uint64_t pc) {
      size_t i = 0;
      while (i < 2 && pc - modules[i].start >= modules[i].size_bytes) ++i;
      return i;
    };
    std::set<Block> blocks;
    std::set<std::string> lines;
    uint64_t outside = 0;
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> open;  // by thread: first address, next
    const auto close = [&](uint64_t tid) {
      if (const auto [begin, end] = open[tid]; begin != end) {
        const Module& module = modules[module_of(begin)];
        const uint64_t cut = std::min(end, module.start + module.size_bytes);
        blocks.emplace(module_of(begin), begin - module.start, cut - begin);
      }
      open.erase(tid);
    };
    for (const Event& event : walk.batch.events()) {
      const uint64_t pc = std::get<Step>(event.body).pc;
      if (module_of(pc) == 2) {
        ++outside;
        continue;
      }
      lines.insert(fmt::format("{}+{:x}", module_of(pc) == 0 ? "one" : "two.dll",
                               pc - modules[module_of(pc)].start));
      if (open.contains(event.tid) && open[event.tid].second != pc) close(event.tid);
      if (!open.contains(event.tid)) open[event.tid] = {pc, pc};
      open[event.tid].second += Walk::is_jump(pc) ? 2 : 1;
      if (Walk::is_jump(pc)) close(event.tid);
    }
    for (const uint64_t tid : {1, 2, 3}) close(tid);

    std::string told;
    ListSource source(walk.catalog, walk.batch.events());
    std::vector<uint64_t> bases;
    EXPECT_EQ(parse_drcov(written(source, "drcov", &told), bases), blocks);
    EXPECT_EQ(bases, (std::vector<uint64_t>{0x1000, 0x9000}));
    EXPECT_NE(told.find(fmt::format("left out: {} executed instructions are outside", outside)),
              std::string::npos);
    ListSource again(walk.catalog, walk.batch.events());
    std::istringstream in(written(again, "modoff"));
    std::set<std::string> got;
    for (std::string line; std::getline(in, line);) EXPECT_TRUE(got.insert(line).second);
    EXPECT_EQ(got, lines);
  }
}

TEST(BasicBlocks, LongOnesAreSplit) {
  std::vector<std::pair<uint64_t, uint32_t>> blocks;
  BasicBlocks finder("x86-64", 100, [&](uint64_t address, uint32_t size) {
    blocks.emplace_back(address, size);
  });
  static constexpr uint8_t kLong[] = {0x0f, 0x1f, 0x80, 0, 0, 0, 0};  // a nop of 7 bytes
  Step step;
  step.opcode = kLong;
  for (uint64_t i = 0; i < 20; ++i) {
    step.pc = 0x1000 + i * 7;
    finder.step(1, step);
  }
  finder.gap();
  EXPECT_EQ(blocks, (std::vector<std::pair<uint64_t, uint32_t>>{{0x1000, 98}, {0x1062, 42}}));
}

}  // namespace
}  // namespace tracewell::formats::test
