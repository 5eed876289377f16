#include "target/linux/fast/filling.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/unique_fd.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kPage = 4096, kBytes = size_t{64} << 20;

tracewell::Mapping memory_of(size_t bytes) {
  const UniqueFd fd(memfd_create("filled", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  auto mapping =
      tracewell::Mapping::map(fd.get(), bytes, tracewell::Mapping::Access::Shared, "memory");
  EXPECT_TRUE(mapping.ok());
  return *std::move(mapping);
}

size_t pages_there(const tracewell::Mapping& memory) {
  std::vector<unsigned char> there(memory.size() / kPage);
  EXPECT_EQ(mincore(memory.data(), memory.size(), there.data()), 0);
  size_t count = 0;
  for (const unsigned char one : there) count += one & 1;
  return count;
}

TEST(Filling, WhoWantsItDoesNotWait) {
  std::promise<void> go;
  const std::shared_future<void> may_go = go.get_future().share();
  std::atomic<uint64_t> filled = 0;
  Filling filling(memory_of(kBytes), [&](const auto&, uint64_t, uint64_t bytes) {
    may_go.wait();
    filled += bytes;
  });
  std::vector<Filling::Range> parts;
  for (size_t at = 0; at < kBytes; at += kBytes / 8) parts.push_back({at, kBytes / 8});
  std::ranges::reverse(parts);
  filling.want(parts);
  EXPECT_EQ(filled, 0u);
  go.set_value();
  filling.finish();
  EXPECT_EQ(filled, kBytes);
}

TEST(Filling, AllOfItIsThere) {
  Filling filling(memory_of(kBytes));
  filling.want({{0, kBytes / 2}});
  filling.want({{kBytes / 2, kBytes / 2}});
  filling.finish();
  EXPECT_EQ(pages_there(filling.memory()), kBytes / kPage);
}

TEST(Filling, OnlyWhatWasWanted) {
  Filling filling(memory_of(16 * kPage));
  filling.want({{2 * kPage, 3 * kPage}});
  filling.finish();
  filling.want({{9 * kPage, 1}});
  filling.want({{0, 0}});
  filling.finish();
  EXPECT_EQ(pages_there(filling.memory()), 4u);
}

TEST(Filling, WhatIsReplacedIsFilledNoMore) {
  struct Told {
    std::promise<void> begun, go;
    std::atomic<uint64_t> bytes = 0;
  };
  const auto told = std::make_shared<Told>();  // the thread may live for longer than this test
  const std::shared_future<void> may_go = told->go.get_future().share();
  const auto fill = [told, may_go](const tracewell::Mapping&, uint64_t, uint64_t bytes) {
    if (told->bytes.fetch_add(bytes) == 0) told->begun.set_value();
    may_go.wait();
  };
  Filling filling(memory_of(kBytes), fill);
  filling.want({{0, kBytes}});
  told->begun.get_future().wait();
  filling = Filling(memory_of(kBytes));
  told->go.set_value();
  filling.want({{0, kBytes}});
  filling.finish();
  EXPECT_LE(told->bytes, 2 * Filling::kPieceBytes);
}

TEST(Filling, EndsWithMuchLeft) {
  for (int i = 0; i < 20; ++i) {
    Filling filling(memory_of(kBytes));
    filling.want({{0, kBytes}});
  }
}

}  // namespace
}  // namespace tracewell::target::live
