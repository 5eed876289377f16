// What a client may do with a named file, and what errno says when it may not.
#include "base/files/named.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace tracewell {
namespace {

namespace fs = std::filesystem;

class Named : public testing::Test {
 protected:
  Named() {
    std::string name = testing::TempDir() + "named.XXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream(at("file")) << "text";
  }
  ~Named() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  static int open(const std::string& path, const NamedUse& use) {
    errno = 0;
    auto fd = open_named_for(path, use);
    const int was = errno;
    EXPECT_TRUE(fd.ok() || was != 0);
    return fd.ok() ? 0 : was;
  }
  std::string folder_;
};

constexpr NamedUse kWrite = {.write = true};
constexpr NamedUse kMake = {.write = true, .create = true, .mode = 0640};
constexpr NamedUse kNew = {.write = true, .create = true, .exclusive = true};
constexpr NamedUse kAnew = {.write = true, .create = true, .truncate = true};

TEST_F(Named, IsOpenedAsAskedFor) {
  EXPECT_EQ(open(at("file"), {}), 0);
  EXPECT_EQ(open(at("none"), {}), ENOENT);
  EXPECT_EQ(open(at("none"), kWrite), ENOENT);
  EXPECT_EQ(open(at("none/none"), kMake), ENOENT);
  EXPECT_EQ(open(at("file/none"), kMake), ENOTDIR);
  EXPECT_EQ(open(at("file/none"), {}), ENOTDIR);
  EXPECT_EQ(open(folder_, kWrite), EISDIR);
  EXPECT_EQ(open(at("file"), kNew), EEXIST);
  const mode_t before = ::umask(0);
  EXPECT_EQ(open(at("made"), kMake), 0);
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(at("made").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  EXPECT_EQ(open(at("made"), kNew), EEXIST);
  EXPECT_EQ(open(at("new"), kNew), 0);
  EXPECT_EQ(fs::file_size(at("file")), 4u);
  EXPECT_EQ(open(at("file"), kMake), 0);
  EXPECT_EQ(fs::file_size(at("file")), 4u);
  EXPECT_EQ(open(at("file"), kAnew), 0);
  EXPECT_EQ(fs::file_size(at("file")), 0u);
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(open(at("fifo"), {.wait = false}), 0);
}

TEST_F(Named, LinksOfThisUserAreFollowed) {
  fs::create_symlink("file", at("link"));
  fs::create_symlink("later", at("ahead"));
  EXPECT_EQ(open(at("link"), kAnew), 0);
  EXPECT_EQ(fs::file_size(at("file")), 0u);
  EXPECT_EQ(open(at("ahead"), kMake), 0);
  EXPECT_TRUE(fs::exists(at("later")));
  EXPECT_EQ(open(at("link"), kNew), EEXIST);
  EXPECT_EQ(open("/dev/null", kAnew), 0);
  EXPECT_EQ(open("/dev/fd/1", kWrite), 0);
  EXPECT_TRUE(remove_named(at("link")).ok());
  EXPECT_TRUE(fs::exists(at("file")));
  EXPECT_FALSE(remove_named(at("link")).ok());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(remove_named(folder_).ok());
  EXPECT_EQ(errno, EISDIR);
}

TEST_F(Named, WhatIsAboveAnOpenFolderIsAboveIt) {
  fs::create_directory(at("inner"));
  const int inner = ::open(at("inner").c_str(), O_PATH | O_DIRECTORY);
  ASSERT_GE(inner, 0);
  EXPECT_EQ(open("/proc/self/fd/" + std::to_string(inner) + "/../above", kMake), 0);
  EXPECT_TRUE(fs::exists(at("above")));
  ::close(inner);
}

TEST_F(Named, LinksOfOthersAreOnlyReadThrough) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can make another user's link";
  fs::create_symlink("file", at("link"));
  fs::create_symlink(".", at("folder"));
  for (const char* name : {"link", "folder"})
    ASSERT_EQ(::lchown(at(name).c_str(), 65534, 65534), 0);
  EXPECT_EQ(open(at("link"), {}), 0);
  EXPECT_EQ(open(at("link"), kWrite), EACCES);
  EXPECT_EQ(open(at("link"), kAnew), EACCES);
  EXPECT_EQ(open(at("folder/new"), kNew), EACCES);
  EXPECT_EQ(fs::file_size(at("file")), 4u);
  EXPECT_FALSE(remove_named(at("folder/file")).ok());
  EXPECT_EQ(errno, EACCES);
  EXPECT_TRUE(remove_named(at("link")).ok()) << "the link itself is not followed";
}

/// As /tmp is. The kernel refuses it where it is told to, to those who would make a file.
TEST_F(Named, WhatOthersPutIntoAStickyFolderIsNotWrittenTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can make another user's file";
  constexpr uid_t kOther = 65534, kFolders = 65533;
  const auto own = [&](const std::string& path, uid_t owner) {
    ASSERT_EQ(::chown(path.c_str(), owner, owner), 0);
  };
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0666), 0);
  const UniqueFd reader(::open(at("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  fs::create_directory(at("folder"));
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  own(folder_, kFolders);
  for (const char* name : {"file", "fifo", "folder"}) own(at(name), kOther);
  for (const NamedUse& use : {kWrite, kMake, kAnew, NamedUse{.read = false, .write = true}}) {
    EXPECT_EQ(open(at("file"), use), EACCES);
    EXPECT_EQ(open(at("fifo"), use), EACCES);
  }
  const auto refused = open_named_for(at("fifo"), kWrite);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::InvalidArgument);
  EXPECT_NE(refused.error().message.find(at("fifo") + ": a FIFO of user "), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(fs::file_size(at("file")), 4u);
  EXPECT_EQ(open(at("folder"), kWrite), EISDIR);
  EXPECT_EQ(open(at("file"), {}), 0) << "it may be read";
  EXPECT_EQ(open(at("file"), kNew), EEXIST);
  EXPECT_EQ(open("/proc/self/fd/" + std::to_string(reader.get()), kWrite), 0) << "open already";
  for (const uid_t owner : {kFolders, uid_t{0}}) {
    own(at("file"), owner);
    EXPECT_EQ(open(at("file"), kMake), 0);
  }
  own(at("file"), kOther);
  for (const mode_t mode : {0777u, 01755u}) {
    ASSERT_EQ(::chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(open(at("file"), kMake), 0);
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 01775), 0);
  EXPECT_EQ(open(at("file"), kMake), EACCES);
}

/// Somebody may have moved it there, out of a folder of theirs, where this user has made it.
TEST_F(Named, OwnFilesThatOthersMayReadAreNotWrittenToWhereOthersPutFiles) {
  ASSERT_EQ(::chmod(at("file").c_str(), 0604), 0);
  const mode_t before = ::umask(077);
  for (const mode_t mode : {0755, 0777, 01777, 0770}) {
    ASSERT_EQ(::chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(open(at("file"), kMake), mode == 0755 ? 0 : EACCES) << mode;
  }
  ::umask(022);
  EXPECT_EQ(open(at("file"), kMake), 0) << "as a new one would be";
  ::umask(before);
}

TEST_F(Named, ANamelessFileLeavesNothing) {
  auto fd = open_nameless(folder_);
  ASSERT_TRUE(fd.ok());
  EXPECT_EQ(::write(fd->get(), "x", 1), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "only what was there";
  EXPECT_FALSE(open_nameless(at("none")).ok());
}

TEST_F(Named, ANameThatAProgramMayHaveToldOpensNoDevice) {
  constexpr NamedUse kTold = {.told = true, .wait = false};
  fs::create_symlink("/dev/zero", at("device"));
  fs::create_symlink("/proc/kmsg", at("kernels"));
  fs::create_symlink("file", at("link"));
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(open(at("device"), kTold), EACCES);
  EXPECT_EQ(open(at("kernels"), kTold), EACCES);
  EXPECT_EQ(open("/dev/null", kTold), EACCES);
  EXPECT_EQ(open(at("nowhere"), kTold), ENOENT);
  EXPECT_EQ(open(at("link"), kTold), 0);
  EXPECT_EQ(open(at("fifo"), kTold), EACCES);  // its writer would wait no longer
  EXPECT_EQ(open(folder_, kTold), EACCES);
  EXPECT_EQ(open("/proc/self/maps", kTold), 0);
}

// A name that begins as the kernel's files do may lead anywhere all the same.
TEST_F(Named, ANameThatAProgramMayHaveToldLeadsToNoFileOfTheKernels) {
  constexpr NamedUse kTold = {.told = true, .wait = false};
  fs::create_symlink("/proc/version", at("kernels"));
  const auto behind = [](const std::string& name) {
    return "/proc/self/fd/" + std::to_string(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  };
  const std::string folder = behind(folder_), version = behind("/proc/version");
  EXPECT_EQ(open(folder + "/file", kTold), 0);
  EXPECT_EQ(open(folder + "/kernels", kTold), EACCES);
  EXPECT_EQ(open("/proc/.." + at("kernels"), kTold), EACCES);
  EXPECT_EQ(open(version, kTold), EACCES);
  for (const std::string process : {"/proc/self", "/proc/thread-self"})
    EXPECT_EQ(open(process + "/root" + "/proc/version", kTold), EACCES) << process;
  // Links that the kernel makes between its own files, and those that lead to others' files.
  for (const char* own : {"/proc/version", "/proc/thread-self/status", "/proc/mounts",
                          "/proc/self/exe", "/sys/class/net/lo/mtu"})
    if (fs::exists(own)) {
      EXPECT_EQ(open(own, kTold), 0) << own;
    }
  // To read these takes something away, or shows what is root's alone.
  for (const char* own : {"/proc/kmsg", "/proc/sysrq-trigger", "/proc/self/environ"})
    if (fs::exists(own)) {
      EXPECT_EQ(open(own, kTold), EACCES) << own;
    }
  ::close(std::stoi(folder.substr(folder.rfind('/') + 1)));
  ::close(std::stoi(version.substr(version.rfind('/') + 1)));
}

}  // namespace
}  // namespace tracewell
