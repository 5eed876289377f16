// What of an address space must stay free, though nothing is there yet.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "target/linux/memory/code_facts.h"

namespace tracewell::target::live {
namespace {

Mapping mapping(uint64_t start, uint64_t end, const std::string& path, uint64_t inode = 0) {
  Mapping out;
  out.start = start;
  out.end = end;
  out.path = path;
  out.inode = inode;
  return out;
}

bool is_taken(const AddressLayout& layout, uint64_t address) {
  return std::ranges::any_of(taken_in(layout),
                             [&](const pads::Range& one) { return one.holds(address); });
}

constexpr uint64_t kLibrary = 0x7ffff7000000, kStack = 0x7ffffffd0000, kStackEnd = 0x7ffffffff000;

AddressLayout with_stack() {
  return {{mapping(0x400000, 0x401000, "/bin/program", 7),
           mapping(kLibrary, kLibrary + 0x200000, "/lib/libc.so.6", 8),
           mapping(kStack, kStackEnd, "[stack]"),
           mapping(0xffffffffff600000, 0xffffffffff601000, "[vsyscall]")},
          0};
}

TEST(AddressLayout, TheFirstStackMayGrowAsFarAsAnything) {
  const AddressLayout layout = with_stack();
  for (const uint64_t at : {kStack - 1, kStack - (uint64_t{64} << 20), kLibrary + 0x200000})
    EXPECT_TRUE(is_taken(layout, at)) << std::hex << at;
  EXPECT_FALSE(is_taken(layout, kLibrary - 1));
  EXPECT_FALSE(is_taken(layout, kStackEnd));
}

TEST(AddressLayout, AHeapThatIsNotThereYetHasItsRoom) {
  AddressLayout layout = with_stack();
  layout.heap = 0x402000;
  EXPECT_TRUE(is_taken(layout, 0x402000));
  EXPECT_TRUE(is_taken(layout, 0x402000 + (uint64_t{255} << 20)));
  EXPECT_FALSE(is_taken(layout, 0x402000 + (uint64_t{257} << 20)));
  layout.maps.insert(layout.maps.begin() + 1, mapping(0x402000, 0x10402000, "[heap]"));
  EXPECT_TRUE(is_taken(layout, 0x10402000 + (uint64_t{255} << 20)));
}

TEST(AddressLayout, RangesAreInOrder) {
  AddressLayout layout = with_stack();
  layout.heap = 0x402000;
  const std::vector<pads::Range> taken = taken_in(layout);
  EXPECT_TRUE(std::ranges::is_sorted(taken, {}, &pads::Range::start));
  EXPECT_EQ(taken.size(), 4u);
}

/// The kernel says so of a process with any name.
TEST(AddressLayout, OfThisProcess) {
  ASSERT_NE(sbrk(4096), reinterpret_cast<void*>(-1));  // not every allocator has made a heap
  const AddressLayout layout = layout_of(getpid(), {});
  const auto heap = std::ranges::find(layout.maps, "[heap]", &Mapping::path);
  ASSERT_NE(heap, layout.maps.end());
  EXPECT_EQ(layout.heap, heap->start);
}

}  // namespace
}  // namespace tracewell::target::live
