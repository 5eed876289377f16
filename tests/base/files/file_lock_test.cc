#include "base/files/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "base/files/file.h"

namespace tracewell {
namespace {

class FileLock : public testing::Test {
 protected:
  FileLock() { ::close(::mkstemp(name_.data())); }
  ~FileLock() override { ::unlink(name_.c_str()); }
  UniqueFd open(int flags) const { return UniqueFd(::open(name_.c_str(), flags | O_CLOEXEC)); }

  std::string name_ = testing::TempDir() + "lock-XXXXXX";
};

TEST_F(FileLock, IsSeenByOthers) {
  const UniqueFd mine = open(O_RDWR), other = open(O_RDONLY);
  EXPECT_FALSE(file_is_locked(other.get()));
  ASSERT_TRUE(lock_file(mine.get()).ok());
  EXPECT_TRUE(file_is_locked(other.get()));
  EXPECT_TRUE(byte_is_locked(other.get(), 7));
  EXPECT_FALSE(file_is_locked(mine.get()));
  EXPECT_FALSE(lock_file(open(O_RDWR).get()).ok());
}

/// Who may only read a file does not decide whether somebody writes to it.
TEST_F(FileLock, ForReadingIsNone) {
  const UniqueFd reader = open(O_RDONLY), other = open(O_RDONLY);
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(reader.get(), F_OFD_SETLK, &lock), 0);
  EXPECT_FALSE(file_is_locked(other.get()));
  EXPECT_FALSE(byte_is_locked(other.get(), 7));
}

}  // namespace
}  // namespace tracewell
