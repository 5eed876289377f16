// Files that are cut while they are mapped.
#include "base/mapping.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"

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

}  // namespace
}  // namespace tracewell
