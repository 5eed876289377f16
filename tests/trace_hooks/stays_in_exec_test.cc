// What has the number of a program's process by now may be one that the kernel does not tell of.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hooks/programs/own_process.h"
#include "hooks/rings/ring_file.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

/// tests/inferiors/stays_in_exec.c
class StaysInExec {
 public:
  StaysInExec() {
    std::string name = (std::filesystem::temp_directory_path() / "stays-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::array<int, 2> in{}, out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
    maker_ = ::fork();
    if (maker_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      const std::string program = TRACEWELL_INFERIORS_DIR "/stays_in_exec";
      ::execl(program.c_str(), "stays_in_exec", folder_.c_str(), nullptr);
      ::_exit(1);
    }
    ::close(in[0]);
    ::close(out[1]);
    end_ = in[1];
    std::FILE* const told = ::fdopen(out[0], "r");
    if (std::fscanf(told, "%u", &pid_) != 1) pid_ = 0;
    std::fclose(told);
  }
  ~StaysInExec() {
    ::close(end_);
    ::waitpid(maker_, nullptr, 0);
    std::filesystem::remove(folder_);
  }
  StaysInExec(const StaysInExec&) = delete;
  StaysInExec& operator=(const StaysInExec&) = delete;

  uint32_t pid() const { return pid_; }  // 0 = there can be none here

 private:
  std::string folder_;
  pid_t maker_ = -1;
  int end_ = -1;
  uint32_t pid_ = 0;
};

TEST(ProcessInExec, HoldsNobodyWhoAsksWhenItBegan) {
  const StaysInExec process;
  if (process.pid() == 0) GTEST_SKIP() << "no file system of its own may be mounted here";
  // Kernels that tell say the truth; the others are not asked again soon.
  const uint64_t start = start_of_process(process.pid());
  EXPECT_EQ(start_of_process(process.pid()), start);
  EXPECT_TRUE(process_lives(process.pid(), start));
  EXPECT_NE(start_of_process(static_cast<uint32_t>(::getpid())), 0u);
}

TEST(ProcessInExec, HoldsNoTrace) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  EXPECT_EQ(World::wait_for(World::run("hook_lives", {"fork"})), 0);
  const StaysInExec process;
  if (process.pid() == 0) GTEST_SKIP() << "no file system of its own may be mounted here";
  const auto ring = *std::filesystem::directory_iterator(world.log() + "/.rings");
  std::filesystem::rename(ring.path(),
                          ring.path().parent_path() / fmt::format("{}-0", process.pid()));
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_GT(story.hooks, 0u);  // of the other ring
  EXPECT_GT(story.lost, 0u);   // whose name and packets are of two processes
}

}  // namespace
}  // namespace tracewell::hooks::test
