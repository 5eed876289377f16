// Files that are cut while they are mapped.
#include "base/files/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "sanitized.h"

namespace tracewell {
namespace {

constexpr size_t kPage = 4096;

class Mappings : public testing::Test {
 protected:
  Mappings() : path_(testing::TempDir() + "mapping.XXXXXX") {
    fd_ = UniqueFd(::mkstemp(path_.data()));
    const std::string text(3 * kPage, 'x');
    EXPECT_EQ(::write(fd_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  ~Mappings() override { ::unlink(path_.c_str()); }
  void cut_to(size_t bytes) {
    ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
  }

  std::string path_;
  UniqueFd fd_;
};

/// All that is there is read, so that a page that cannot be had is met.
size_t count(Bytes bytes, uint8_t wanted) {
  size_t out = 0;
  for (const volatile uint8_t& one : bytes) out += one == wanted;
  return out;
}

/// More than a process has areas of memory: it had none left for anything else.
TEST_F(Mappings, MoreFilesThanTheSystemMaps) {
  std::vector<std::shared_ptr<InputFile>> files;
  for (int i = 0; i < 70'000; ++i) {
    auto file = InputFile::open(path_);
    ASSERT_TRUE(file.ok()) << i << ": " << file.error().text();
    files.push_back(*file);
  }
  EXPECT_EQ(count(files.back()->bytes(), 'x'), 3 * kPage);
  EXPECT_EQ(std::vector<char>(8 << 20).size(), 8U << 20);
  cut_to(0);
  ASSERT_EQ(::ftruncate(fd_.get(), 1 << 20), 0);
  const auto large = InputFile::open(path_);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Errc::Limit);
  files.clear();
  EXPECT_TRUE(InputFile::open(path_).ok());
}

TEST_F(Mappings, AnyNumberOfFilesMayBeCut) {
  std::vector<std::shared_ptr<InputFile>> files;
  for (int i = 0; i < 600; ++i) {
    auto file = InputFile::open(path_);
    ASSERT_TRUE(file.ok()) << file.error().text();
    files.push_back(*file);
  }
  cut_to(kPage);
  for (const auto& file : files) {
    EXPECT_EQ(count(file->bytes(), 'x'), kPage);
    ASSERT_TRUE(file->lost());
    EXPECT_EQ(file->lost()->first, kPage);
    EXPECT_EQ(file->lost()->bytes, 2 * kPage);
  }
}

TEST_F(Mappings, ACutInsideAPageIsSeen) {
  auto file = InputFile::open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE((*file)->lost());
  cut_to(2 * kPage + 100);
  EXPECT_EQ(count((*file)->bytes(), 'x'), 2 * kPage + 100);
  ASSERT_TRUE((*file)->lost());
  EXPECT_EQ((*file)->lost()->first, 2 * kPage + 100);
  EXPECT_EQ((*file)->lost()->bytes, kPage - 100);
}

TEST_F(Mappings, WhatIsMissingIsKnownOfAllFilesAlsoOfClosedOnes) {
  const auto of_this = [this] {
    std::vector<LostFile> out = InputFile::all_lost();
    std::erase_if(out, [this](const LostFile& one) { return one.path != path_; });
    return out;
  };
  std::vector<std::shared_ptr<InputFile>> files;
  for (int i = 0; i < 300; ++i) files.push_back(*InputFile::open(path_));
  EXPECT_TRUE(of_this().empty());
  // Inside of a page: nothing but the size tells, and descriptors are kept of some only.
  cut_to(2 * kPage + 100);
  const uint64_t first = files.front()->id(), last = files.back()->id();
  EXPECT_EQ(of_this().size(), 300u);
  files.resize(1);
  files.clear();
  const std::vector<LostFile> lost = of_this();
  ASSERT_FALSE(lost.empty());
  EXPECT_GT(last, first);
  EXPECT_EQ(lost.front().lost.first, 2 * kPage + 100);
  EXPECT_EQ(lost.front().lost.bytes, kPage - 100);
}

TEST_F(Mappings, AFileIsOpenedAgainWhateverBecameOfItsName) {
  auto file = InputFile::open(path_);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::write(fd_.get(), "more", 4), 4);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  auto again = (*file)->again();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->bytes().size(), 3 * kPage + 4);
}

// Of those whose descriptors were not kept, the name is all there is to open them again by.
TEST_F(Mappings, AFileOfManyIsOpenedAgainUnlessItsNameLeadsElsewhere) {
  std::vector<std::shared_ptr<InputFile>> files;
  for (int i = 0; i < 300; ++i) files.push_back(*InputFile::open(path_));
  ASSERT_TRUE(lock_file(fd_.get()).ok());
  for (const auto& file : files) {
    EXPECT_TRUE(file->is_locked());
    EXPECT_TRUE(file->again().ok());
  }
  const std::string elsewhere = path_ + ".elsewhere";
  ASSERT_EQ(::rename(path_.c_str(), elsewhere.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);  // to open it for reading would wait
  EXPECT_TRUE(files.front()->again().ok());
  EXPECT_TRUE(files.front()->is_locked());
  const auto again = files.back()->again();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().text(), path_ + " is another file by now");
  EXPECT_FALSE(files.back()->is_locked());
  ASSERT_EQ(::rename(elsewhere.c_str(), path_.c_str()), 0);
  EXPECT_TRUE(files.back()->is_locked());
}

TEST_F(Mappings, SharedOnesGoOnBeingWritten) {
  auto mapping = Mapping::map(fd_.get(), 3 * kPage, Mapping::Access::Shared, path_);
  ASSERT_TRUE(mapping.ok());
  cut_to(kPage);
  mapping->data()[0] = 'y';
  mapping->data()[2 * kPage] = 'y';
  ASSERT_TRUE(mapping->lost());
  EXPECT_EQ(mapping->lost()->first, 2 * kPage);
  EXPECT_EQ(mapping->lost()->pages, 1u);
  EXPECT_EQ(count(mapping->bytes(), 'y'), 2u);
}

/// Each page that is replaced between others is an area of memory, and there may be so many.
TEST_F(Mappings, MoreHolesThanThereMayBeAreas) {
#ifdef TRACEWELL_SANITIZED
  GTEST_SKIP() << "a sanitizer needs areas of its own";
#endif
  uint64_t areas = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> areas;
  if (areas == 0 || areas > 200'000) GTEST_SKIP() << areas << " areas";
  const size_t pages = 2 * areas + 1000;
  cut_to(pages * kPage);
  auto file = InputFile::open(path_);
  ASSERT_TRUE(file.ok()) << file.error().text();
  cut_to(kPage);
  const volatile uint8_t* const bytes = (*file)->bytes().data();
  size_t sum = 0;
  for (size_t page = 1; page < pages; page += 2) sum += bytes[page * kPage];
  EXPECT_EQ(sum, 0u);
  EXPECT_EQ(bytes[0], 'x');
  ASSERT_TRUE((*file)->lost());
  EXPECT_EQ((*file)->lost()->first, kPage);
}

/// A program of its own for each, since a process has one handler.
class MappingsDeath : public Mappings {
 protected:
  MappingsDeath() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  /// Nobody removes the file of a program that ends in the middle of a test.
  auto open_and_remove() {
    auto file = InputFile::open(path_);
    ::unlink(path_.c_str());
    return file;
  }
  /// Sanitizers have a handler themselves, which reports and exits.
  static constexpr bool others_handle() {
#ifdef TRACEWELL_SANITIZED
    return true;
#else
    return false;
#endif
  }
};

TEST_F(MappingsDeath, ASignalThatSomebodySendsEndsUs) {
  if (others_handle()) GTEST_SKIP() << "the sanitizer's handler ends us";
  EXPECT_EXIT(
      {
        const auto file = open_and_remove();
        std::signal(SIGALRM, [](int) { ::_exit(9); });
        ::alarm(60);
        ::kill(::getpid(), SIGBUS);
        for (;;) ::pause();
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(MappingsDeath, AnAccessElsewhereIsTheOtherHandlers) {
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { ::_exit(7); });
        const auto file = open_and_remove();
        auto* const other = static_cast<volatile uint8_t*>(
            ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd_.get(), 0));
        cut_to(0);
        ::_exit(other[0] + count((*file)->bytes(), 'x') == 0 ? 8 : 9);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(MappingsDeath, AnAccessElsewhereEndsUsWhereNobodyElseHandlesIt) {
  if (others_handle()) GTEST_SKIP() << "the sanitizer's handler ends us";
  EXPECT_EXIT(
      {
        const auto file = open_and_remove();
        auto* const other = static_cast<volatile uint8_t*>(
            ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd_.get(), 0));
        cut_to(0);
        ::_exit(other[0] + 8);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(MappingsOfPipes, AreWaitedForWhereTheyDoNotBlock) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  std::thread writer([fd = ends[1]] {
    EXPECT_EQ(::write(fd, "te", 2), 2);
    EXPECT_EQ(::write(fd, "xt", 2), 2);
    ::close(fd);
  });
  auto file = InputFile::of(UniqueFd(ends[0]), "a pipe");
  writer.join();
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(as_text((*file)->bytes()), "text");
}

TEST(MappingsOfPipes, AreCopies) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  auto file = InputFile::of(UniqueFd(ends[0]), "a pipe");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(as_text((*file)->bytes()), "text");
  EXPECT_FALSE((*file)->lost());
}

/// Of this thread.
double processor_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// A folder may have as many files as there can be mappings.
TEST_F(Mappings, OneMoreCostsTheSameHoweverManyThereAre) {
  constexpr size_t kMany = 50000, kFew = 1000;  // a process may have 65530 areas of memory
  std::vector<Mapping> all;
  const auto map = [&](size_t count) {
    const double before = processor_seconds();
    for (size_t i = 0; i < count; ++i) {
      auto one = Mapping::map(fd_.get(), kPage, Mapping::Access::Read, path_);
      if (!one.ok()) return 0.0;
      all.push_back(*std::move(one));
    }
    return processor_seconds() - before;
  };
  const double first = map(kFew);
  ASSERT_GT(map(kMany), 0.0);
  EXPECT_LT(map(kFew), 10 * first);
}

}  // namespace
}  // namespace tracewell
