// What hits may load from where a fault does harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "fast/hit_here.h"
#include "fast/thunk.h"

namespace tracewell::fast {
namespace {

using Kind = RecordBlock::Kind;

/// Hits that collect so many bytes at the address that is in rsi.
class KnownMemory : public testing::Test {
 protected:
  KnownMemory() {
    here_.read_by(TRACEWELL_READS_KNOWN);
    body_ = here_.add(1, {{.kind = TRACEWELL_STEP_MEMORY, .base = 6, .bytes = 8}});
  }
  /// What was read at an address; a memory access error is "!".
  std::string read(uint64_t address) {
    Registers before;
    before.general[6] = address;
    EXPECT_EQ(call_body(body_, before), before);
    std::string out;
    for (const auto& record : here_.records()) {
      RecordBlocks blocks(record.blocks);
      while (const auto block = blocks.next())
        out += block->kind == Kind::Fault ? "!" : std::string(as_text(block->bytes));
    }
    return out;
  }
  std::string read(const uint8_t* from) { return read(reinterpret_cast<uint64_t>(from)); }
  static tracewell_range range_of(std::span<const uint8_t> memory) {
    const auto start = reinterpret_cast<uint64_t>(memory.data());
    return {start, start + memory.size()};
  }
  tracewell_ranges& shared() {
    return *reinterpret_cast<tracewell_ranges*>(here_.memory().data() +
                                                here_.shape().ranges_offset());
  }

  HitsHere here_;
  uint64_t body_ = 0;
};

TEST_F(KnownMemory, WhatIsNotKnownIsReadByCallsAndAskedFor) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  std::memcpy(page.data(), "sesame!.", 8);
  const uint64_t faults = LoadTable::faults;
  EXPECT_FALSE(here_.known().wanted());
  EXPECT_EQ(read(page.data()), "sesame!.");
  EXPECT_TRUE(here_.known().wanted());
  EXPECT_FALSE(here_.known().wanted());
  EXPECT_EQ(read(0x1000), "!");
  EXPECT_FALSE(here_.known().wanted()) << "there is no such memory";
  here_.known().set({range_of(page)});
  EXPECT_EQ(read(page.data()), "sesame!.");
  EXPECT_FALSE(here_.known().wanted());
  EXPECT_EQ(LoadTable::faults, faults);
  munmap(page.data(), page.size());
}

TEST_F(KnownMemory, WhatWasUnmappedSinceFaultsAndIsMended) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  here_.known().set({range_of(page)});
  munmap(page.data(), page.size());
  const uint64_t faults = LoadTable::faults;
  EXPECT_EQ(read(page.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults + 1);
  here_.known().clear();
  EXPECT_EQ(read(page.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults + 1);
}

TEST_F(KnownMemory, NothingIsLoadedWhileTheTableChanges) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  here_.known().set({range_of(page)});
  munmap(page.data(), page.size());
  const uint64_t faults = LoadTable::faults;
  shared().sequence |= 1;
  EXPECT_EQ(read(page.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults);
}

TEST_F(KnownMemory, ATableThatLiesCostsFaultsAndNoMore) {
  tracewell_ranges& table = shared();
  table.count = UINT32_MAX;
  for (uint16_t& hint : table.hints) hint = UINT16_MAX;
  for (tracewell_range& one : table.ranges) one = {0, UINT64_MAX};
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{1} << 63, ~uint64_t{7}})
    EXPECT_EQ(read(address), "!");
  for (tracewell_range& one : table.ranges) one = {UINT64_MAX, 0};
  EXPECT_EQ(read(0x1000), "!");
}

TEST_F(KnownMemory, ManyRangesAreFoundAndTheLargestStay) {
  constexpr size_t kAll = TRACEWELL_RANGES_MAX + 100;
  const std::span<uint8_t> memory = pages(kAll * 3 * 4096, PROT_READ | PROT_WRITE);
  std::vector<tracewell_range> ranges;
  for (size_t i = 0; i < kAll; ++i) {
    uint8_t* const at = memory.data() + i * 3 * 4096;
    std::memcpy(at, "12345678", 8);
    ranges.push_back(range_of({at, i < 100 ? 4096 : 2 * 4096UL}));
  }
  std::ranges::reverse(ranges);
  here_.known().set(ranges);
  EXPECT_EQ(shared().count, TRACEWELL_RANGES_MAX);
  for (size_t i = 0; i < kAll; ++i) {
    ASSERT_EQ(read(memory.data() + i * 3 * 4096), "12345678") << i;
    ASSERT_EQ(here_.known().wanted(), i < 100) << i;
  }
  here_.known().set({range_of(memory.first(4096)), range_of(memory.subspan(4096, 4096))});
  EXPECT_EQ(shared().count, 1U) << "they touch";
  EXPECT_EQ(shared().ranges[1].end, 0U) << "a hint may lead there";
  munmap(memory.data(), memory.size());
}

TEST_F(KnownMemory, WhoLooksWhileItChangesReadsWhatIsThere) {
  constexpr size_t kPages = 64, kRounds = 20000;
  const std::span<uint8_t> memory = pages(kPages * 2 * 4096, PROT_READ | PROT_WRITE);
  std::vector<tracewell_range> ranges;
  for (size_t i = 0; i < kPages; ++i) {
    const std::span<uint8_t> two = memory.subspan(i * 2 * 4096, 2 * 4096);
    std::memcpy(two.data(), "12345678", 8);
    mprotect(two.data() + 4096, 4096, PROT_NONE);
    ranges.push_back(range_of(two.first(4096)));
  }
  const uint64_t faults = LoadTable::faults;
  std::atomic<bool> ends = false;
  std::thread changes([&] {
    for (size_t at = 0; !ends; ++at)
      here_.known().set({ranges.begin() + static_cast<ptrdiff_t>(at % kPages), ranges.end()});
  });
  for (size_t i = 0; i < kRounds; ++i) {
    const uint8_t* const at = memory.data() + i % kPages * 2 * 4096;
    ASSERT_EQ(read(at), "12345678");
    ASSERT_EQ(read(at + 4096), "!");
  }
  ends = true;
  changes.join();
  EXPECT_EQ(LoadTable::faults, faults);
  munmap(memory.data(), memory.size());
}

TEST_F(KnownMemory, WithoutATracerNothingIsLoaded) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  here_.known().set({range_of(page)});
  munmap(page.data(), page.size());
  here_.area().reader = 0x40000000;  // FUTEX_OWNER_DIED
  const uint64_t faults = LoadTable::faults;
  EXPECT_EQ(read(page.data()), "");
  EXPECT_EQ(LoadTable::faults, faults);
}

}  // namespace
}  // namespace tracewell::fast
