// What other users may do meanwhile: exchange names in a folder that they may write to, and have
// processes that are not to be looked at. The system calls that take a name go through here, so
// that it happens before each of them, one after the other.
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "hooks/log/held_folder.h"
#include "hooks/log/log_folder.h"
#include "hooks/programs/unseen_programs.h"
#include "hooks/rings/dead_rings.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

thread_local std::function<void(std::string_view name)> before_call;

void tell_of_call(const char* name) {
  if (!before_call) return;
  const auto now = std::exchange(before_call, nullptr);  // its own calls are not told
  now(name);
  before_call = now;
}

}  // namespace

// In place of the C library's. Their own names are taken: <fcntl.h> may have inline ones.
extern "C" {
int told_open(const char* name, int flags, ...) __asm__("open");
int told_openat(int folder, const char* name, int flags, ...) __asm__("openat");
int told_openat_2(int folder, const char* name, int flags) __asm__("__openat_2");
int told_mkdirat(int folder, const char* name, mode_t mode) __asm__("mkdirat");
int told_unlinkat(int folder, const char* name, int flags) __asm__("unlinkat");
int told_renameat(int from, const char* name, int to, const char* other) __asm__("renameat");
int told_stat(const char* name, struct stat* facts) __asm__("stat");

int told_open(const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, name, flags, mode));
}
int told_openat(int folder, const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_openat, folder, name, flags, mode));
}
int told_openat_2(int folder, const char* name, int flags) {
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_openat, folder, name, flags, 0));
}
int told_mkdirat(int folder, const char* name, mode_t mode) {
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_mkdirat, folder, name, mode));
}
int told_unlinkat(int folder, const char* name, int flags) {
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_unlinkat, folder, name, flags));
}
int told_renameat(int from, const char* name, int to, const char* other) {
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_renameat2, from, name, to, other, 0));
}
int told_stat(const char* name, struct stat* facts) {
  tell_of_call(name);
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, name, facts, 0));
}
}

namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;  // by name, what they hold

/// A folder that several users write to: a log, and another folder of the same user's.
class Shared : public testing::Test {
 protected:
  ~Shared() override {
    before_call = nullptr;
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  /// All anew, before each try.
  void make(bool with_log) {
    fs::remove_all(folder_);
    fs::create_directories(path("data"));
    for (const auto& [name, text] : data_) write(path("data/") + name, text);
    if (!with_log) return;
    for (const char* name : {"log", "log.old"}) {
      const auto log = make_log_folder(path(name));
      ASSERT_TRUE(log.ok()) << log.error().text();
      const Status written = write_metadata(*log, metadata_text(Uuid{}, measure_clock(now(), now()),
                                                                {}));
      ASSERT_TRUE(written.ok());
      write(path(name) + "/1-0-5.0", "");
    }
  }

  void exchange(const char* name) const {
    static_cast<void>(syscall(SYS_renameat2, AT_FDCWD, path(name).c_str(), AT_FDCWD,
                              path("data").c_str(), RENAME_EXCHANGE));
  }

  /// The user's folder is somewhere, and as it was.
  bool data_is_whole() const {
    for (const auto& one : fs::directory_iterator(folder_)) {
      Files found;
      for (const auto& file : fs::directory_iterator(one)) {
        std::string& text = found[file.path().filename()];
        if (!file.is_regular_file()) continue;
        std::ifstream in(file.path(), std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(in), {});
      }
      if (found == data_) return true;
    }
    return false;
  }

  /// Exchanges `name` and the other folder before the first call that says it; before the second;
  /// and so on, until there is no other one.
  void try_each(const char* name, bool with_log, const std::function<void()>& work) {
    for (unsigned nth = 1;; ++nth) {
      SCOPED_TRACE(fmt::format("before call {} that says {}", nth, name));
      make(with_log);
      unsigned count = 0;
      before_call = [&](std::string_view said) {
        while (said.ends_with('/')) said.remove_suffix(1);
        if (said.substr(said.rfind('/') + 1) == name && ++count == nth) exchange(name);
      };
      work();
      before_call = nullptr;
      EXPECT_TRUE(data_is_whole());
      if (count < nth) break;
      ASSERT_LT(nth, 100u);
    }
  }

  World world_;
  const std::string folder_ = parent_of(world_.log()) + "/shared";
  // Some as a log has them.
  const Files data_ = {{"thesis.txt", "thesis"}, {"1-0.0", "numbers"}, {".lock", "x"},
                       {"metadata", "mine"}};
};

TEST_F(Shared, LogThatIsReplaced) {
  for (const char* name : {"log", "log.old"})
    for (const std::string& old : {std::string(), std::string("log.old")})
      try_each(name, true, [&] { static_cast<void>(make_log_folder(path("log"), old)); });
}

TEST_F(Shared, LogThatIsMade) {
  try_each("log", false, [&] { static_cast<void>(make_log_folder(path("log"))); });
}

/// A folder that only this user may look into gets the name that is to be made.
TEST_F(Shared, FolderOnTheWayThatIsMade) {
  for (unsigned nth = 1;; ++nth) {
    SCOPED_TRACE(fmt::format("before call {} that says it", nth));
    make(false);
    fs::permissions(path("data"), fs::perms(0700));
    unsigned count = 0;
    before_call = [&](std::string_view said) {
      if (file_name_of(std::string(said)) == "new" && ++count == nth)
        static_cast<void>(::rename(path("data").c_str(), path("new").c_str()));
    };
    static_cast<void>(make_folders(path("new")));
    before_call = nullptr;
    EXPECT_TRUE(data_is_whole());
    const auto private_one = facts_at(path(count < nth ? "data" : "new"));
    ASSERT_TRUE(private_one);
    EXPECT_EQ(private_one->mode, 0700u);
    if (count < nth) break;
    ASSERT_LT(nth, 100u);
  }
}

TEST_F(Shared, SessionThatFails) {
  SessionOptions options = world_.options(Buffering::Single, 64 << 10);
  options.log = path("log");
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  try_each("log", false, [&] {
    const rlimit small{1024, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_FALSE(start_session(world_.control(), options).ok());
    setrlimit(RLIMIT_FSIZE, &before);
  });
}

TEST_F(Shared, SessionThatRuns) {
  SessionOptions options = world_.options(Buffering::Single, 64 << 10);
  options.log = path("log");
  try_each("log", false, [&] {
    if (!start_session(world_.control(), options).ok()) return;
    for (const bool on : {false, true}) static_cast<void>(switch_tracing(world_.control(), 0, on));
    static_cast<void>(stop_session(world_.control(), 0));
  });
}

/// What comes into the place of the log between its begin and that of its collector.
TEST_F(Shared, CollectorThatComesLate) {
  SessionOptions options = world_.options(Buffering::Alternate, 64 << 10);
  options.log = path("log");
  make(false);
  world_.start(options);
  exchange("log");
  world_.control().channel(0).stopping = 1;  // or it would go on for as long as it likes
  EXPECT_FALSE(run_collector(world_.control(), 0, [] {}).ok());
  EXPECT_FALSE(stop_session(world_.control(), 0).ok());
  EXPECT_TRUE(data_is_whole());
}

/// Its name is exchanged each time between the question what it is and the look at it.
TEST_F(Shared, LogThatIsRenamedWhileItIsLookedFor) {
  make(true);
  auto held = HeldFolder::open(path("log"));
  ASSERT_TRUE(held.ok()) << held.error().text();
  EXPECT_EQ(held->now(), path("log"));
  std::string is = path("log"), other = path("away");
  int times = 0;
  before_call = [&](std::string_view said) {
    if (said != is || times == 5) return;
    ++times;
    ASSERT_EQ(::rename(is.c_str(), other.c_str()), 0);
    std::swap(is, other);
  };
  EXPECT_EQ(held->now(), path("away"));
  before_call = nullptr;
  EXPECT_EQ(times, 5);
  fs::remove_all(path("away"));
  EXPECT_EQ(held->now(), std::nullopt);
  fs::create_directory(path("away"));
  EXPECT_EQ(held->now(), std::nullopt) << "another one";
}

TEST_F(Shared, WhatIsNoLogsStays) {
  make(true);
  write(path("log/notes"), "mine");
  const auto made = make_log_folder(path("log"));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().text().find("/log/notes is no part of the log that it is in"),
            std::string::npos);
  for (const char* name : {"log/notes", "log/metadata", "log/1-0-5.0"})
    EXPECT_TRUE(fs::exists(path(name)));
}

/// Whose mappings are looked at while `work` is done.
std::set<std::string> looked_at(const std::function<void()>& work) {
  std::set<std::string> out;
  before_call = [&](std::string_view name) {
    const std::string path(name);
    for (const char* file : {"maps", "cmdline", "environ", "mem", "smaps"})
      if (file_name_of(path) == file) out.insert(real_path(parent_of(path)).value_or(path));
  };
  work();
  before_call = nullptr;
  return out;
}

/// A process of that user's, which a debugger's rights would be needed for.
class Process {
 public:
  Process(uid_t real, uid_t effective) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      if (setresuid(real, effective, effective) != 0 || ::write(ends[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~Process() {
    kill(pid_, SIGKILL);
    World::wait_for(pid_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  pid_t pid() const { return pid_; }
  std::string folder() const { return fmt::format("/proc/{}", pid_); }

 private:
  pid_t pid_ = -1;
};

constexpr uid_t kOther = 65534;

TEST(OtherUsers, MappingsAreNotLookedAtForPrograms) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const World world;
  const Process other(kOther, kOther), set_uid(kOther, 0), as_other(0, kOther), own(0, 0);
  const auto seen = looked_at([] { unseen_programs(); });
  EXPECT_TRUE(seen.contains(own.folder()));
  for (const Process* one : {&other, &set_uid, &as_other})
    EXPECT_FALSE(seen.contains(one->folder())) << one->folder();
}

TEST(OtherUsers, MappingsAreNotLookedAtForRings) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  EXPECT_EQ(World::wait_for(World::run("hook_lives", {"fork"})), 0);
  const std::string copy = world.log() + ".copy";
  fs::copy(world.log(), copy, fs::copy_options::recursive);
  world.stop();
  const Process other(kOther, kOther);
  // As if the other one's program had made them. Since when it runs they do not say.
  auto found = find_dead_rings(copy);
  ASSERT_TRUE(found.ok());
  for (const auto& ring : found->rings)
    EXPECT_EQ(chown(ring.path.c_str(), kOther, kOther), 0);
  found = find_dead_rings(copy);
  ASSERT_TRUE(found.ok() && !found->rings.empty());
  found->rings.resize(1);
  found->rings[0].head.pid = static_cast<uint32_t>(other.pid());
  found->rings[0].head.start = 0;
  const std::string rescued = world.log() + ".rescued";
  const auto seen = looked_at([&] {
    const UniqueFd writes(::open(found->rings[0].path.c_str(), O_RDWR | O_CLOEXEC));
    const auto done = collect_dead_rings(found->rings, rescued, "test");
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().text().find("still writes to"), std::string::npos);
  });
  EXPECT_EQ(seen, std::set<std::string>());
  // Nobody writes to a copy.
  const auto done = collect_dead_rings(found->rings, rescued, "test");
  EXPECT_TRUE(done.ok()) << done.error().text();
}

}  // namespace
}  // namespace tracewell::hooks::test
