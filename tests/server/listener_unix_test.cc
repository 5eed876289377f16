// A socket in a folder that somebody else may rename at any moment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "server/connection/listener.h"

namespace fs = std::filesystem;

namespace {

/// Called where the server has looked at the path, and has not used it yet.
std::function<void()> before_bind;

}  // namespace

/// Instead of the C library's: it is called right before bind(2).
extern "C" mode_t umask(mode_t mask) noexcept {
  if (const auto deed = std::exchange(before_bind, nullptr)) deed();
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace tracewell::server {
namespace {

class UnixListenerFolder : public ::testing::Test {
 protected:
  UnixListenerFolder() {
    std::string name = (fs::temp_directory_path() / "tw-unix-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    work_ = name;
    fs::create_directory(work_ / "theirs");
    fs::create_directory(work_ / "roots");
  }
  ~UnixListenerFolder() override { fs::remove_all(work_); }

  fs::path work_;
};

std::string text_of(const Result<std::unique_ptr<Listener>>& opened) {
  return opened ? "" : opened.error().text();
}

/// As a debugger does it that stands in the folder.
bool connects(const fs::path& folder, const std::string& name) {
  const UniqueFd held(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string path = "/proc/self/fd/" + std::to_string(held.get()) + "/" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

TEST_F(UnixListenerFolder, IsWhereThePathLedWhenItWasLookedAt) {
  before_bind = [this] {
    fs::rename(work_ / "theirs", work_ / "moved");
    fs::create_directory_symlink("roots", work_ / "theirs");
  };
  {
    auto opened = listen_unix((work_ / "theirs" / "socket").string(), false);
    EXPECT_FALSE(before_bind) << "it was not called";
    EXPECT_TRUE(fs::is_empty(work_ / "roots")) << "made behind a link that was put there later";
    ASSERT_TRUE(opened.ok()) << text_of(opened);
    struct stat status {};
    ASSERT_EQ(::lstat((work_ / "moved" / "socket").c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_TRUE(connects(work_ / "moved", "socket"));
  }
  EXPECT_TRUE(fs::is_empty(work_ / "moved")) << "it is removed where it was made";
}

/// What a killed server left is found and replaced there, too; one that lives is not.
TEST_F(UnixListenerFolder, LooksForTheOwnerOfWhatIsThere) {
  const std::string path = (work_ / "theirs" / "socket").string();
  {
    const UniqueFd left(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  auto first = listen_unix(path, false);
  ASSERT_TRUE(first.ok()) << text_of(first);
  auto second = listen_unix(path, false);
  EXPECT_NE(text_of(second).find(path + ": Can't bind address: Address already in use"),
            std::string::npos)
      << text_of(second);
  EXPECT_TRUE(connects(work_ / "theirs", "socket"));
}

TEST_F(UnixListenerFolder, MayHaveALongPath) {
  const fs::path folder = work_ / std::string(100, 'a') / std::string(100, 'b');
  fs::create_directories(folder);
  {
    auto opened = listen_unix((folder / "socket").string(), false);
    ASSERT_TRUE(opened.ok()) << text_of(opened);
    EXPECT_EQ((*opened)->announcement(), "Listening on unix:" + (folder / "socket").string());
    EXPECT_TRUE(connects(folder, "socket"));
    auto second = listen_unix((folder / "socket").string(), false);
    EXPECT_NE(text_of(second).find("already in use"), std::string::npos) << text_of(second);
  }
  EXPECT_TRUE(fs::is_empty(folder));
  auto too_long = listen_unix((work_ / std::string(120, 'n')).string(), false);
  EXPECT_NE(text_of(too_long).find("too long"), std::string::npos) << text_of(too_long);
}

}  // namespace
}  // namespace tracewell::server
