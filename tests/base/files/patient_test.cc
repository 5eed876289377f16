// Descriptors that do not block, and readers that come late.
#include "base/files/patient.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell {
namespace {

constexpr size_t kMuch = size_t{1} << 20;  // more than is kept back

class PatientPipe : public testing::Test {
 protected:
  PatientPipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read_ = UniqueFd(ends[0]);
    write_ = UniqueFd(ends[1]);
    ::fcntl(read_.get(), F_SETFL, 0);
  }
  /// Until nobody can write any more.
  std::string all() const {
    std::string out;
    char text[4096];
    for (ssize_t got = 0; (got = ::read(read_.get(), text, sizeof text)) > 0;)
      out.append(text, static_cast<size_t>(got));
    return out;
  }

  UniqueFd read_, write_;
};

std::string long_text() {
  std::string out;
  for (int i = 0; out.size() < kMuch; ++i) out += std::to_string(i) + " ";
  return out;
}

TEST_F(PatientPipe, AllIsWritten) {
  const std::string text = long_text();
  std::string got;
  std::thread reader([&] { got = all(); });
  EXPECT_EQ(write_patiently(write_.get(), as_bytes(text)), text.size());
  write_.reset();
  reader.join();
  EXPECT_EQ(got, text);
}

/// Standard output, which is `fd` for as long as it takes to open it.
Result<OutputFile> standard_output(int fd) {
  const UniqueFd before(::fcntl(1, F_DUPFD_CLOEXEC, 3));
  ::dup2(fd, 1);
  auto file = OutputFile::create("-");
  ::dup2(before.get(), 1);
  return file;
}

TEST_F(PatientPipe, AnOutputFileWaits) {
  const std::string text = long_text();
  std::string got;
  std::thread reader([&] { got = all(); });
  {
    auto file = standard_output(write_.get());
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_TRUE(file->write(text).ok());
    EXPECT_TRUE(file->commit().ok());
    EXPECT_EQ(file->size(), text.size());
  }
  write_.reset();
  reader.join();
  EXPECT_EQ(got, text);
}

TEST_F(PatientPipe, AReaderThatIsGoneIsAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  read_.reset();
  const std::string text = long_text();
  EXPECT_EQ(write_patiently(write_.get(), as_bytes(text)), 0u);
  EXPECT_EQ(errno, EPIPE);
  std::signal(SIGPIPE, SIG_DFL);
}

/// A file that may not grow further takes a part; that part is not written again.
TEST(PatientFiles, WhatIsOutIsNotWrittenTwice) {
  std::string path = testing::TempDir() + "patient.XXXXXX";
  const UniqueFd out(::mkstemp(path.data()));
  ASSERT_TRUE(out.valid());
  ::unlink(path.c_str());
  auto file = standard_output(out.get());
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->write(std::string(10, 'x')).ok());
  EXPECT_TRUE(file->flush().ok());
  EXPECT_TRUE(file->write(std::string(40, 'y')).ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {30, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_FALSE(file->write(std::string(kMuch, 'y')).ok());
  EXPECT_EQ(file->size(), 50 + kMuch);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_TRUE(file->commit().ok());
  EXPECT_EQ(::lseek(out.get(), 0, SEEK_END), static_cast<off_t>(50 + kMuch));
}

}  // namespace
}  // namespace tracewell
