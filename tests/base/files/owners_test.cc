// User namespaces in which one number stands for many users, this one perhaps among them. Where the
// kernel lets nobody make one, these tests say that they were skipped.
#include "base/files/owners.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/planted.h"

namespace tracewell {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kHolder = 65533, kStranger = 65532;  // any two

class Owners : public testing::Test {
 protected:
  Owners() {
    std::string name = testing::TempDir() + "owners.XXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream(at("file")) << "text";
    fs::create_symlink("file", at("link"));
  }
  ~Owners() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }

  /// In a child with a user namespace of its own, where this user has the number 0, or that which
  /// all have. False: there can be none.
  enum class Number : uint8_t { Root, Unmapped };
  static bool in_namespace(Number number, const std::function<void()>& work) {
    constexpr int kNone = 77;
    const uid_t user = ::geteuid();
    const pid_t child = ::fork();
    if (child == 0) {
      if (::unshare(CLONE_NEWUSER) != 0) ::_exit(kNone);
      if (number == Number::Root)
        std::ofstream("/proc/self/uid_map") << fmt::format("0 {} 1", user) << std::flush;
      if (::geteuid() != (number == Number::Root ? 0 : kUnmappedUser)) ::_exit(kNone);
      work();
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNone) return false;
    EXPECT_EQ(status, 0);
    return true;
  }

  void make(const std::string& name, uid_t owner, mode_t mode) const {
    std::ofstream(at(name)) << "text";
    ASSERT_EQ(::chown(at(name).c_str(), owner, owner), 0);
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
  }

  std::string folder_;
};

TEST_F(Owners, NumberOfManyIsNotThisUsers) {
  const bool done = in_namespace(Number::Unmapped, [&] {
    EXPECT_FALSE(is_own_user(::geteuid()));
    EXPECT_FALSE(is_same_user(kUnmappedUser, kUnmappedUser));
    // Whoever made them, they look like this.
    EXPECT_EQ(facts_at(at("file"))->owner, kUnmappedUser);
    EXPECT_EQ(open_found(at("link")).error().code, Errc::InvalidArgument);
    EXPECT_EQ(OutputFile::create(at("link")).error().code, Errc::InvalidArgument);
    FoundRules also;
    also.also = kUnmappedUser;
    EXPECT_FALSE(open_found(at("link"), also).ok());
    const auto folder = Folder::named(folder_);
    ASSERT_TRUE(folder.ok());
    EXPECT_EQ(folder->open_own("file", Folder::Make::No).error().code, Errc::InvalidArgument);
    EXPECT_FALSE(open_beside(at("file"), *facts_at(at("file"))).ok());
    // What is new is its maker's all the same.
    EXPECT_TRUE(OutputFile::create(at("new")).ok());
  });
  if (!done) GTEST_SKIP() << "no user namespace can be made";
}

TEST_F(Owners, NumberOfManyIsNotOneUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  fs::create_directory(at("sticky"));
  ASSERT_EQ(::chown(at("sticky").c_str(), kHolder, kHolder), 0);
  ASSERT_EQ(::chmod(at("sticky").c_str(), 01777), 0);
  make("sticky/planted", kStranger, 0666);
  make("trace", kHolder, 0644);
  make("trace.tidx", kStranger, 0644);
  const auto check = [&] {
    const auto place = write_place(at("sticky/planted"));
    ASSERT_TRUE(place.ok());
    EXPECT_EQ(check_not_planted(*place, "it").error().code, Errc::InvalidArgument);
    EXPECT_EQ(open_beside(at("trace.tidx"), *facts_at(at("trace"))).error().code,
              Errc::InvalidArgument);
  };
  check();
  if (!in_namespace(Number::Root, check)) GTEST_SKIP() << "no user namespace can be made";
}

TEST_F(Owners, WhereOthersPutFilesIsToldWithWhatWasFoundThere) {
  for (const auto& [name, mode] : {std::pair{"shared", 01777}, {"own", 0755}}) {
    fs::create_directory(at(name));
    ASSERT_EQ(::chmod(at(name).c_str(), static_cast<mode_t>(mode)), 0);
    make(std::string(name) + "/trace.tidx", ::geteuid(), 0644);
  }
  const auto shared = [&](const char* name) {
    const auto file = InputFile::open_beside(at(name) + "/trace.tidx", *facts_at(at(name)));
    EXPECT_TRUE(file.ok());
    return !file.ok() || (*file)->others_put_there();
  };
  EXPECT_TRUE(shared("shared"));
  EXPECT_FALSE(shared("own"));
}

TEST_F(Owners, NumberOfOneIsThisUsers) {
  EXPECT_TRUE(is_own_user(::geteuid()) || ::geteuid() == kUnmappedUser);
  if (::geteuid() != 0 || some_users_are_unmapped())
    GTEST_SKIP() << "only root, where all have numbers, can be the user with this one";
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  ASSERT_EQ(::lchown(at("link").c_str(), kUnmappedUser, kUnmappedUser), 0);
  ASSERT_EQ(::seteuid(kUnmappedUser), 0);
  EXPECT_TRUE(is_own_user(kUnmappedUser));
  EXPECT_TRUE(open_found(at("link")).ok());
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_FALSE(is_own_user(kUnmappedUser));
}

}  // namespace
}  // namespace tracewell
