// PatchedMemory: who reads gets the program's own bytes, wherever ours stand.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {
namespace {

constexpr std::string_view kOwn = "the program's own bytes";

UniqueFd file_of(std::string_view text) {
  UniqueFd out(memfd_create("memory", MFD_CLOEXEC));
  EXPECT_EQ(pwrite(out.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return out;
}

/// Covers them with others, as FastCode does.
void cover(PatchedMemory& memory, uint64_t address, std::string_view with) {
  std::vector<uint8_t> before(with.size());
  EXPECT_EQ(memory.read_raw(address, before), with.size());
  const Bytes ours = as_bytes(with);
  memory.covered.put(address, with.size(), {before, {ours.begin(), ours.end()}});
  EXPECT_TRUE(memory.write_raw(address, ours).ok());
}

std::string raw(const PatchedMemory& memory) {
  std::string out(kOwn.size(), 0);
  auto* const bytes = reinterpret_cast<uint8_t*>(out.data());
  out.resize(memory.read_raw(0, {bytes, out.size()}));
  return out;
}

TEST(PatchedMemory, ShowsTheProgramsOwnBytes) {
  PatchedMemory memory(file_of(kOwn));
  EXPECT_EQ(memory.changed_range(), (std::pair<uint64_t, uint64_t>()));
  ASSERT_TRUE(memory.add(1).ok());
  cover(memory, 4, "PROGRAM");
  EXPECT_EQ(raw(memory), "t\xcc" "e PROGRAM's own bytes");
  EXPECT_EQ(memory.read_text(0, 100), kOwn);
  for (uint64_t from = 0; from < kOwn.size(); ++from)
    EXPECT_EQ(memory.read_text(from, 3), kOwn.substr(from, 3)) << from;
  EXPECT_EQ(memory.changed_range(), (std::pair<uint64_t, uint64_t>(1, 11)));
  EXPECT_TRUE(memory.is_changed(0, 2) && memory.is_changed(10, 1));
  EXPECT_FALSE(memory.is_changed(2, 2) || memory.is_changed(11, 5));
}

TEST(PatchedMemory, IsWrittenUnderTrapsAndNotWhereCodeIsCovered) {
  PatchedMemory memory(file_of(kOwn));
  ASSERT_TRUE(memory.add(1).ok());
  cover(memory, 4, "PROGRAM");
  EXPECT_FALSE(memory.write(2, as_bytes("...")).ok());
  EXPECT_TRUE(memory.write(0, as_bytes("our ")).ok());
  EXPECT_EQ(memory.read_text(0, 100), "our program's own bytes");
  EXPECT_EQ(raw(memory), "o\xcc" "r PROGRAM's own bytes");
  EXPECT_TRUE(memory.drop_if_unused(1).ok());
  EXPECT_EQ(raw(memory), "our PROGRAM's own bytes");
}

TEST(PatchedMemory, FindsItsTrapsInACopy) {
  PatchedMemory memory(file_of(kOwn));
  for (const uint64_t at : {1, 2, 14}) ASSERT_TRUE(memory.add(at).ok());
  cover(memory, 4, "PROGRAM");
  const PatchedMemory fork(file_of(raw(memory))), other(file_of(kOwn));
  EXPECT_EQ(memory.traps_in(fork), 4u);
  EXPECT_EQ(memory.traps_in(other), 0u);
  ASSERT_TRUE(memory.drop_if_unused(2).ok());
  EXPECT_EQ(memory.traps_in(fork), 4u) << "it was made a moment ago";
}

TEST(PatchedMemory, IsNoneWhenItIsClosed) {
  PatchedMemory memory(file_of(kOwn));
  memory.close();
  EXPECT_EQ(memory.read_text(0, 3), "");
  EXPECT_FALSE(memory.write(0, as_bytes("t")).ok());
  EXPECT_FALSE(memory.add(0).ok());
}

}  // namespace
}  // namespace tracewell::target::live
