// What tests of trace hooks share: a control file and a log of their own, programs with hooks, and
// what their log holds in the end.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/format.h"
#include "hooks/session/session.h"

namespace tracewell::hooks::test {

/// As tests/inferiors/hook_hammer.c has it.
struct Counts {
  uint64_t tid, begun, done, handler_begun, handler_done;
};

class World {
 public:
  World() {
    std::string name = (std::filesystem::temp_directory_path() / "hooks-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    choose();
    std::ofstream(counts_path(), std::ios::binary) << std::string(64 * sizeof(Counts), '\0');
    const UniqueFd fd(::open(counts_path().c_str(), O_RDWR | O_CLOEXEC));
    counts_ = static_cast<Counts*>(mmap(nullptr, 64 * sizeof(Counts), PROT_READ | PROT_WRITE,
                                        MAP_SHARED, fd.get(), 0));
    auto control = Control::open();
    EXPECT_TRUE(control.ok());
    control_ = std::make_unique<Control>(*std::move(control));
  }
  ~World() {
    munmap(counts_, 64 * sizeof(Counts));
    std::filesystem::remove_all(folder_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Control& control() { return *control_; }
  /// Programs that run() starts look at the control file of this world, not of a later one.
  void choose() const { setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1); }
  /// Of the session that runs.
  Uuid session() const {
    Uuid out;
    std::memcpy(out.data(), control_->channel(0).uuid, out.size());
    return out;
  }
  std::string log() const { return folder_ + "/log"; }
  std::string counts_path() const { return folder_ + "/counts"; }
  Counts* counts() { return counts_; }

  SessionOptions options(Buffering buffering, uint64_t buffer_bytes) const {
    SessionOptions out;
    out.buffering = buffering;
    out.buffer_bytes = buffer_bytes;
    out.log = log();
    return out;
  }
  void start(const SessionOptions& options) {
    const Status status = start_session(control(), options);
    ASSERT_TRUE(status.ok()) << status.error().text();
  }
  void stop() {
    const Status status = stop_session(control(), 0);
    ASSERT_TRUE(status.ok()) << status.error().text();
  }

  /// A child process that collects; it is there when this returns.
  pid_t start_collector() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const Status status =
          run_collector(control(), 0, [&] { static_cast<void>(!write(ends[1], "", 1)); });
      _exit(status.ok() ? 0 : 1);
    }
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
  }

  static pid_t run(const std::string& inferior, std::vector<std::string> words) {
    words.insert(words.begin(), std::string(TRACEWELL_INFERIORS_DIR) + "/" + inferior);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    return child;
  }
  static int wait_for(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  /// The exit status of a shell command, and what it printed.
  static int shell(const std::string& command, std::string& out) {
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[4096];
    while (const size_t got = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, got);
    return pclose(pipe);
  }

 private:
  std::string folder_;
  std::unique_ptr<Control> control_;
  Counts* counts_ = nullptr;
};

/// What a log tells of one thread.
struct ThreadStory {
  std::vector<uint64_t> numbers;          // d1 of hooks 0100, in order
  std::vector<uint64_t> handler_numbers;  // d1 of hooks 0200
  uint64_t lost = 0;
  uint64_t losses = 0;  // events that tell of them
};

struct LogStory {
  std::map<uint64_t, ThreadStory> threads;
  uint64_t events = 0;  // all but losses
  uint64_t hooks = 0, hooks_with_cpu = 0;
  uint64_t lost = 0;
  std::vector<std::string> marks;
  std::vector<std::string> problems;
  bool times_ascend = true;
  int64_t first_ns = 0, last_ns = 0;
};

inline LogStory read_log(const std::string& log) {
  LogStory out;
  ProblemLog problems;
  auto file = InputFile::open(log + "/metadata");
  EXPECT_TRUE(file.ok());
  auto source = formats::open_source(*std::move(file), "", {}, problems);
  EXPECT_TRUE(source.ok());
  Batch batch;
  int64_t last = INT64_MIN;
  while (*(*source)->next(batch)) {
    for (const Event& event : batch.events()) {
      ThreadStory& thread = out.threads[event.tid];
      if (const auto* hook = std::get_if<Hook>(&event.body)) {
        // A forged record may be read as a hook without any.
        (hook->id == 0x0100 ? thread.numbers : thread.handler_numbers)
            .push_back(hook->words.empty() ? 0 : hook->words[0]);
        ++out.events;
        ++out.hooks;
        out.hooks_with_cpu += event.cpu >= 0;
      } else if (const auto* lost = std::get_if<Lost>(&event.body)) {
        thread.lost += lost->count;
        ++thread.losses;
        out.lost += lost->count;
      } else {
        out.marks.emplace_back(std::get<Mark>(event.body).text);
        ++out.events;
      }
      if (last == INT64_MIN) out.first_ns = *event.time_ns;
      out.times_ascend &= *event.time_ns >= last;
      last = out.last_ns = *event.time_ns;
    }
  }
  for (const Problem& problem : problems.kept()) out.problems.push_back(problem.text);
  return out;
}

}  // namespace tracewell::hooks::test
