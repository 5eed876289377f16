// Programs and commands of a user that begin together meet in one folder in /tmp, while another
// user takes names there and gives them back. In a /tmp of its own, by users that nobody is.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hooks/control/control.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kMe = 65532, kSquatter = 65533;
const std::string kUsual = "/tmp/tracewell-65532";

class PlaceForks : public testing::Test {
 protected:
  /// In a process whose /tmp nobody else sees, as root; what it prints is `out`.
  void in_own_tmp(const std::function<void(FILE* out)>& work, std::string& out) {
    if (std::string_view(TRACEWELL_INFERIORS_DIR).starts_with("/tmp/"))
      GTEST_SKIP() << "programs of the tests are in /tmp, which is another one here";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      unsetenv("XDG_RUNTIME_DIR");
      const bool own = unshare(CLONE_NEWNS) == 0 &&
                       mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("none", "/tmp", "tmpfs", 0, "mode=1777") == 0;
      FILE* const to = fdopen(ends[1], "w");
      if (own) work(to);
      fclose(to);
      _exit(own ? 0 : 77);
    }
    close(ends[1]);
    char buffer[4096];
    ssize_t got;
    while ((got = read(ends[0], buffer, sizeof buffer)) > 0)
      out.append(buffer, static_cast<size_t>(got));
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "there can be no /tmp of its own here";
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }

  /// Forks a program, or a command, of the user's; where it meets is a line of `to`.
  static pid_t begin(bool program, FILE* to, bool traced = false) {
    fflush(to);
    const pid_t child = fork();
    if (child != 0) return child;
    if (setresgid(kMe, kMe, kMe) != 0 || setresuid(kMe, kMe, kMe) != 0) _exit(1);
    if (traced && (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0 || raise(SIGSTOP) != 0))
      _exit(1);
    if (program) {
      dup2(fileno(to), STDOUT_FILENO);
      execl(TRACEWELL_INFERIORS_DIR "/hook_place", "hook_place", nullptr);
      _exit(1);
    }
    const auto folder = make_control_folder();
    fmt::print(to, "{}\n", folder.ok() ? folder->path() : folder.error().text());
    fflush(to);
    _exit(0);
  }

  /// How many system calls that takes, twice: each begins and ends.
  static long calls_of(bool program, FILE* to) {
    const pid_t child = begin(program, to, true);
    int status = 0;
    long calls = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
      if (WSTOPSIG(status) == SIGSTOP)
        ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
      if (WSTOPSIG(status) == (SIGTRAP | 0x80)) ++calls;
      ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    }
    return calls;
  }

  static void squat(bool on) {
    struct stat about;
    if (on) {
      static_cast<void>(mkdir(kUsual.c_str(), 0755));
      static_cast<void>(!lchown(kUsual.c_str(), kSquatter, kSquatter));
    } else if (lstat(kUsual.c_str(), &about) == 0 && about.st_uid == kSquatter) {
      static_cast<void>(rmdir(kUsual.c_str()));
    }
  }

  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      out.push_back(text.substr(at, text.find('\n', at) - at));
    return out;
  }

  static void expect_one_place(const std::string& said, size_t count) {
    const auto lines = lines_of(said);
    EXPECT_EQ(lines.size(), count) << said;
    EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), 1u) << said;
    for (const std::string& line : lines) EXPECT_TRUE(line.starts_with(kUsual)) << line;
  }
};

/// mkdir and rmdir of the usual name, all the time, by the user who may remove nobody else's.
pid_t begin_squatting() {
  const pid_t child = fork();
  if (child != 0) return child;
  if (setresuid(kSquatter, kSquatter, kSquatter) != 0) _exit(1);
  while (getppid() != 1) {
    for (int i = 0; i < 10; ++i) static_cast<void>(mkdir(kUsual.c_str(), 0755));
    for (int i = 0; i < 10; ++i) static_cast<void>(rmdir(kUsual.c_str()));
  }
  _exit(0);
}

/// Each round begins with a /tmp in which there is no place.
TEST_F(PlaceForks, WhileTheUsualNameComesAndGoes) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr int kRounds = 24, kEach = 4;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    std::string said;
    in_own_tmp(
        [&](FILE* to) {
          const pid_t squatter = begin_squatting();
          std::vector<pid_t> all;
          for (int i = 0; i < kEach; ++i)
            for (const bool program : {true, false}) all.push_back(begin(program, to));
          for (const pid_t one : all) waitpid(one, nullptr, 0);
          kill(squatter, SIGKILL);
          waitpid(squatter, nullptr, 0);
          // Who comes later, when the name is free, finds the same.
          squat(false);
          for (const bool program : {true, false}) waitpid(begin(program, to), nullptr, 0);
          // Nothing is left of how they agreed.
          for (const auto& one : fs::directory_iterator("/tmp"))
            if (const std::string path = one.path(); !path.starts_with(kUsual))
              fmt::print(to, "{}\n", path);
        },
        said);
    if (IsSkipped()) return;
    expect_one_place(said, 2 * kEach + 2);
  }
}

/// Many names of another's make a look at all of them slow.
TEST_F(PlaceForks, WhileOthersHaveManyNames) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr int kRounds = 4, kEach = 3, kNames = 3000;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    std::string said;
    in_own_tmp(
        [&](FILE* to) {
          squat(true);
          for (int i = 0; i < kNames; ++i) {
            const std::string name = fmt::format("{}-{:08}", kUsual, i);
            if (mkdir(name.c_str(), 0755) != 0 || lchown(name.c_str(), kSquatter, kSquatter) != 0)
              fmt::print(to, "cannot make {}\n", name);
          }
          std::vector<pid_t> all;
          for (int i = 0; i < kEach; ++i)
            for (const bool program : {true, false}) all.push_back(begin(program, to));
          for (const pid_t one : all) waitpid(one, nullptr, 0);
        },
        said);
    if (IsSkipped()) return;
    expect_one_place(said, 2 * kEach);
  }
}

/// What is no folder is none of this user's: each is a name that is read, and no more.
TEST_F(PlaceForks, WhileOthersHaveManyFilesAndLinks) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr int kNames = 1000;
  std::string said;
  in_own_tmp(
      [&](FILE* to) {
        squat(true);
        waitpid(begin(true, to), nullptr, 0);
        const long before[] = {calls_of(false, to), calls_of(true, to)};
        for (int i = 0; i < kNames; ++i) {
          std::ofstream(fmt::format("{}-0{}", kUsual, i)).flush();
          static_cast<void>(!symlink("/", fmt::format("{}-1{}", kUsual, i).c_str()));
        }
        for (const bool program : {false, true})
          fmt::print(to, "{}\n{}\n", before[program], calls_of(program, to));
      },
      said);
  if (IsSkipped()) return;
  std::vector<long> calls;
  for (const std::string& line : lines_of(said))
    if (!line.starts_with('/')) calls.push_back(std::stol(line));
  ASSERT_EQ(calls.size(), 4u) << said;
  for (const size_t one : {size_t{0}, size_t{2}}) {
    EXPECT_GT(calls[one], 0);
    EXPECT_LT(calls[one + 1], calls[one] + kNames) << said;
  }
}

/// A process that was killed in its turn has left a folder that nobody holds.
TEST_F(PlaceForks, WhatWasLeftOfATurnIsRemoved) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  for (const bool program : {true, false}) {
    std::string said;
    in_own_tmp(
        [&](FILE* to) {
          const std::string left = "/tmp/.tracewell-65532-7";
          const std::string others = "/tmp/.tracewell-65532-8";
          for (const auto& [name, owner] : {std::pair(left, kMe), std::pair(others, kSquatter)})
            if (mkdir(name.c_str(), 0700) != 0 || lchown(name.c_str(), owner, owner) != 0)
              fmt::print(to, "cannot make {}\n", name);
          waitpid(begin(program, to), nullptr, 0);
          if (fs::exists(left)) fmt::print(to, "{} is still there\n", left);
          if (!fs::exists(others)) fmt::print(to, "{} is gone\n", others);
        },
        said);
    if (IsSkipped()) return;
    expect_one_place(said, 1);
  }
}

}  // namespace
}  // namespace tracewell::hooks::test
