// The trace buffer's file: who may have it, when it goes, what happens when there is no room.
#include "agent/buffer/buffer_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/buffer/buffer_memory.h"
#include "agent/buffer/trace_buffer.h"
#include "base/files/file_lock.h"
#include "ring/layout.h"
#include "scratch.h"

namespace tracewell::agent {
namespace {

namespace fs = std::filesystem;

bool is_in_use(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.valid() && file_is_locked(fd.get());
}

BufferFile file_at(const std::string& path) {
  auto file = BufferFile::create(path);
  EXPECT_TRUE(file.ok()) << file.error().text();
  return *std::move(file);
}

std::vector<uint8_t> content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

ring::Header header_of(const std::vector<uint8_t>& bytes) {
  ring::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Which pages were made ahead is forgotten with them: a file system that is full by now would end
/// us at the first byte that is written there.
TEST(BufferMemory, PagesAreAskedForAgainOnceItIsEmpty) {
  const std::string path = test::scratch_path();
  BufferMemory memory;
  ASSERT_TRUE(memory.create(8 << 20).ok());
  ASSERT_TRUE(memory.move_into(file_at(path)).ok());
  const auto taken = [&] {
    struct stat about {};
    EXPECT_EQ(stat(path.c_str(), &about), 0);
    return static_cast<uint64_t>(about.st_blocks) * 512;
  };
  memory.make_ahead();
  // At least two steps of it: one of them is known to be there. Linux before 5.14 makes one alone.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (taken() < 2 << 20 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  ASSERT_TRUE(memory.ready(1));
  memory.begin_clear(0);
  memory.settle();
  const uint64_t empty = taken();
  ASSERT_LT(empty, 1u << 20);
  ASSERT_TRUE(memory.ready(1));
  EXPECT_GE(taken(), empty + ring::kPage);
}

/// What is written to each page, while pages are made ahead of that. Returns the pages that hold
/// something else in the end.
int pages_spoiled(const std::string& path) {
  constexpr uint64_t kBytes = 32 << 20;
  BufferMemory memory;
  auto file = BufferFile::create(path);
  if (!file || !memory.create(kBytes) || !memory.move_into(*std::move(file))) return 200;
  memory.make_ahead();
  for (uint64_t at = 0; at < kBytes; at += ring::kPage) {
    if (!memory.ready(at + ring::kPage)) return 201;
    std::memset(memory.data() + at, 7, ring::kPage);
  }
  int spoiled = 0;
  for (uint64_t at = 0; at < kBytes; at += ring::kPage)
    spoiled += std::count(memory.data() + at, memory.data() + at + ring::kPage, 7) != ring::kPage;
  return std::min(spoiled, 100);
}

/// Where the file system has no call to make pages (here ramfs, in a mount namespace of its own).
TEST(BufferMemory, MakesNoPagesAheadByZeros) {
  const std::string folder = test::scratch_path();
  ASSERT_TRUE(fs::create_directory(folder));
  const pid_t child = fork();
  if (child == 0) {
    const bool alone = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    if (!alone || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", folder.c_str(), "ramfs", 0, nullptr) != 0)
      _exit(202);
    int worst = 0;
    for (int i = 0; i < 20; ++i)
      worst = std::max(worst, pages_spoiled(fmt::format("{}/{}.twb", folder, i)));
    _exit(worst);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "pages; 200 and more: it could not be tried";
  fs::remove(folder);
}

TEST(BufferFile, IsForItsOwnerAndGoesWithItsKeeper) {
  const std::string path = test::scratch_path();
  {
    const BufferFile file = file_at(path);
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    EXPECT_NE(fcntl(file.fd(), F_GETFD) & FD_CLOEXEC, 0) << "traced programs would inherit it";
    EXPECT_TRUE(is_in_use(path));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(is_in_use(path));
}

TEST(BufferFile, TakesNobodysPlace) {
  const std::string path = test::scratch_path();
  std::ofstream(path) << "the last frames";
  auto file = BufferFile::create(path);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Errc::InvalidArgument);
  EXPECT_EQ(content(path).size(), 15u);
  fs::remove(path);
  fs::create_symlink("/nonexistent/elsewhere", path);
  EXPECT_FALSE(BufferFile::create(path).ok());
  fs::remove(path);
}

TEST(BufferFile, LeavesAnotherFileOfItsNameAlone) {
  const std::string path = test::scratch_path();
  {
    const BufferFile file = file_at(path);
    fs::remove(path);
    std::ofstream(path) << "somebody else's";
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

TEST(BufferFile, GoesWhereverItsFolderIsByThen) {
  const std::string folder = test::scratch_path(), moved = folder + ".moved";
  fs::create_directory(folder);
  {
    const BufferFile by_path = file_at(folder + "/1.twb");
    auto inside = Folder::named(folder);
    ASSERT_TRUE(inside.ok());
    const auto by_name = BufferFile::create(*std::move(inside), "2.twb");
    ASSERT_TRUE(by_name.ok()) << by_name.error().text();
    auto again = Folder::named(folder);
    ASSERT_TRUE(again.ok());
    const auto taken = BufferFile::create(*std::move(again), "2.twb");
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code, Errc::InvalidArgument);
    fs::rename(folder, moved);
    fs::create_directory(folder);
    std::ofstream(folder + "/1.twb") << "somebody else's";
  }
  EXPECT_TRUE(fs::is_empty(moved));
  EXPECT_TRUE(fs::exists(folder + "/1.twb"));
  fs::remove_all(folder);
  fs::remove_all(moved);
}

TEST(BufferFile, KeptFilesAreNoLongerInUse) {
  const std::string path = test::scratch_path();
  {
    TraceBuffer buffer;
    ASSERT_TRUE(buffer.resize(100).ok());
    ASSERT_TRUE(buffer.move_into(file_at(path)).ok());
    buffer.memory().abandon();
  }
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(is_in_use(path));
  EXPECT_EQ(header_of(content(path)).abandoned, 1u);
  fs::remove(path);
}

TEST(BufferFile, DoesNotGrowWithTheNumberOfFrames) {
  const std::string path = test::scratch_path();
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(100'000).ok());
  ASSERT_TRUE(buffer.move_into(file_at(path)).ok());
  buffer.set_circular(true);
  const std::vector<uint8_t> large(1000, 'x');
  FrameRecord record;
  for (int i = 0; i < 60'000; ++i) {
    // Now and then more frames than a turn of the ring has large ones.
    const bool small = i / 1000 % 7 == 0;
    record.pc = 0x1000 + static_cast<uint64_t>(i % 100);
    record.is_step = i % 3 == 0;
    record.tid = i;
    ASSERT_TRUE(buffer.append(record, Bytes(large).first(small ? 0 : large.size())));
    ASSERT_EQ(buffer.record(buffer.count() - 1).tid, i);
    ASSERT_EQ(buffer.record(0).tid, i + 1 - static_cast<int>(buffer.count()));
  }
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  constexpr int64_t kBlock = 512;
  EXPECT_LT(status.st_blocks * kBlock, 200'000);
  EXPECT_GT(status.st_size, 1'200'000);
}

TEST(BufferFile, SaysWhatIsThere) {
  const std::string path = test::scratch_path();
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(120).ok());
  ASSERT_TRUE(buffer.move_into(file_at(path)).ok());
  buffer.set_machine(16, Endian::Big);
  buffer.set_circular(true);
  const std::vector<uint8_t> data(11, 'V');
  FrameRecord record;
  record.tracepoint = 3;
  for (record.pc = 0x10; record.pc < 0x15; ++record.pc) ASSERT_TRUE(buffer.append(record, data));
  const auto bytes = content(path);
  const ring::Header header = header_of(bytes);
  EXPECT_EQ(std::memcmp(header.magic, ring::kMagic, 8), 0);
  EXPECT_EQ(header.agent_pid, getpid());
  EXPECT_EQ(header.register_block_bytes, 16u);
  EXPECT_EQ(header.big_endian, 1u);
  EXPECT_EQ(header.data_bytes, 120u);
  EXPECT_EQ(header.next, 5u);
  EXPECT_EQ(header.first, 2u) << "three of 36 bytes fit";
  EXPECT_EQ(header.end, 5 * 36u);
  EXPECT_EQ(header.begin, 2 * 36u);
  ring::FrameEntry last;
  std::memcpy(&last, bytes.data() + header.data_offset + 4 * 36 % 120, sizeof last);
  EXPECT_EQ(last.number, 4u);
  EXPECT_EQ(last.bytes, 36u);
  EXPECT_EQ(last.fill(), 1u);
  ring::FrameShape shape;
  ASSERT_LT(last.shape(), header.shapes);
  std::memcpy(&shape, bytes.data() + header.table_offset + last.shape() * sizeof shape,
              sizeof shape);
  EXPECT_EQ(shape.pc, 0x14u);
  EXPECT_EQ(shape.tracepoint, 3);
}

TEST(BufferFile, DescriptionsReplaceEachOther) {
  const std::string path = test::scratch_path();
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(64).ok());
  ASSERT_TRUE(buffer.move_into(file_at(path)).ok());
  for (size_t size : {0u, 5u, 9000u, 20000u, 3u, 20001u, 0u, 4096u}) {
    const std::string text(size, static_cast<char>('a' + size % 7));
    ASSERT_TRUE(buffer.memory().describe(as_bytes(text)).ok());
    const auto bytes = content(path);
    const ring::Header header = header_of(bytes);
    const ring::Text& at = header.texts[header.text_current];
    ASSERT_LE(at.offset + at.size, bytes.size());
    EXPECT_EQ(as_text(Bytes(bytes).subspan(at.offset, at.size)), text);
  }
  buffer.clear();
  const ring::Header header = header_of(content(path));
  EXPECT_EQ(header.texts[header.text_current].size, 0u);
}

TEST(BufferFile, ClearGivesMemoryBack) {
  const std::string path = test::scratch_path();
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(8 << 20).ok());
  ASSERT_TRUE(buffer.move_into(file_at(path)).ok());
  const auto bytes_used = [&] {
    struct stat about {};
    stat(path.c_str(), &about);
    return about.st_blocks * 512;
  };
  const auto empty = bytes_used();
  EXPECT_LT(empty, 1 << 20) << "what was not written to takes no room";
  const std::vector<uint8_t> data(100'000, 0);
  while (buffer.append({}, data)) continue;
  EXPECT_GT(bytes_used(), 7 << 20);
  buffer.clear();
  EXPECT_LE(bytes_used(), empty);
}

// In a process of its own, for the limit is the whole process's.
TEST(BufferFile, RefusesWhereFilesMayNotBeSoLong) {
  const std::string path = test::scratch_path();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    TraceBuffer buffer;
    bool good = buffer.resize(1 << 20).ok();
    auto file = BufferFile::create(path);
    good = good && file.ok() && !buffer.move_into(*std::move(file)).ok();
    good = good && buffer.append({}, {}) && buffer.file() == nullptr;  // still in memory
    good = good && !fs::exists(path);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace tracewell::agent
