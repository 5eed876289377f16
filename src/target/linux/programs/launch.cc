// The program becomes a traced process before it runs its first instruction: we fork, the child
// waits until it is seized, then it execs (through a shell and wrappers, each of which execs once).
#include "target/linux/programs/programs.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/owners.h"
#include "base/process/oom_score.h"
#include "base/process/urgency.h"
#include "base/text/text.h"
#include "target/linux/kernel/descriptors.h"
#include "target/linux/programs/program_here.h"
#include "target/linux/stops/patience.h"

namespace tracewell::target::live {
namespace {

/// One word for the shell.
std::string shell_quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool is_program(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// A plain name: along PATH, as a shell looks. What is not found stays as it is, for exec to fail
/// on.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (is_program(candidate)) return candidate;
  }
  return name;
}

std::vector<std::string> environment(const Processes::LaunchOptions& options) {
  std::vector<std::string> result;
  const auto drop = [&](std::string_view name) {
    std::erase_if(result, [&](const std::string& one) {
      return one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=';
    });
  };
  for (char** one = environ; *one != nullptr; ++one) result.emplace_back(*one);
  for (const std::string& name : options.environment_unset) drop(name);
  for (const std::string& pair : options.environment_set) {
    drop(pair.substr(0, pair.find('=')));
    result.push_back(pair);
  }
  return result;
}

/// All that the child needs, made before the fork: between fork and exec nothing may allocate.
struct Plan {
  std::string file;
  std::vector<std::string> words, environment;
  std::vector<char*> argv, envp;
  ProgramHere here;
  int execs = 1;  // until the program itself runs
  const char* directory = nullptr;
  bool disable_randomization = true;
  bool keep_stdio_free = false;
};

void add_pointers(std::vector<std::string>& from, std::vector<char*>& to) {
  for (std::string& one : from) to.push_back(one.data());
  to.push_back(nullptr);
}

Plan make_plan(const Processes::LaunchOptions& options) {
  Plan plan;
  std::vector<std::string> words = options.wrapper;
  words.insert(words.end(), options.argv.begin(), options.argv.end());
  // A wrapper's name is no program's that somebody wants to debug: it is looked for along PATH.
  std::string& program = words[options.wrapper.size()];
  if (program.find('/') == std::string::npos) {
    plan.here = program_here(program, !options.working_directory.empty());
    if (!plan.here.path.empty()) program = plan.here.path;
  }
  plan.execs = options.wrapper.empty() ? 1 : 2;
  if (options.startup_with_shell) {
    std::string command = "exec";
    for (const std::string& word : words) command += " " + shell_quoted(word);
    plan.words = {"/bin/sh", "-c", command};
    ++plan.execs;
  } else {
    plan.words = std::move(words);
  }
  plan.file = find_program(plan.words[0]);
  plan.environment = environment(options);
  add_pointers(plan.words, plan.argv);
  add_pointers(plan.environment, plan.envp);
  if (!options.working_directory.empty()) plan.directory = options.working_directory.c_str();
  plan.disable_randomization = options.disable_randomization;
  plan.keep_stdio_free = options.keep_stdio_free;
  return plan;
}

/// In the child. Reports errno through `report` when it cannot become the program.
[[noreturn]] void become(const Plan& plan, int go_ahead, int report) {
  setpgid(0, 0);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGTTOU, SIGTTIN, SIGTSTP})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  give_back_descriptor_limit();
  restore_oom_score();
  restore_urgency();
  if (plan.disable_randomization) {
    const int now = personality(0xffffffff);
    if (now != -1) personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
  }
  if (plan.keep_stdio_free) {
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0) dup2(null, STDIN_FILENO);
    if (null > STDIN_FILENO) close(null);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  char byte = 0;
  while (read(go_ahead, &byte, 1) < 0 && errno == EINTR) {
  }
  if (plan.directory == nullptr || chdir(plan.directory) == 0)
    execve(plan.file.c_str(), plan.argv.data(), plan.envp.data());
  const int why = errno;
  (void)!write(report, &why, sizeof why);
  _exit(127);
}

struct Pipe {
  UniqueFd read_end, write_end;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
    return true;
  }
};

// A program may be another user's, who keeps exec from getting on (a lease on the file), and what
// runs in front of it the client's. Other programs that we trace wait until this one has started.
constexpr int64_t kStartNs = 300 * kSecond, kStartBesideOthersNs = 10 * kSecond;

/// Its next status; 0 if it has none, nothing if it takes too long.
std::optional<int> next_status(pid_t child, Patience& patience) {
  for (int64_t pause = kPauseMinNs;; pause = std::min(2 * pause, kPauseMaxNs)) {
    int status = 0;
    const pid_t got = waitpid(child, &status, __WALL | WNOHANG);
    if (got == child) return status;
    if (got < 0 && errno != EINTR) return 0;
    if (patience.over()) return std::nullopt;
    pause_for(pause);
  }
}

/// Runs the child through its execs, to a clean stop at the program's first instruction. Returns
/// its last wait status, or nothing if it does not get there.
std::optional<int> run_to_program(pid_t child, int execs, uint64_t options, Patience& patience) {
  for (;;) {
    const auto next = next_status(child, patience);
    if (!next || !WIFSTOPPED(*next)) return next;
    const int status = *next;
    int signal = 0;
    if (stop_event(status) == PTRACE_EVENT_EXEC && --execs == 0) {
      trace(PTRACE_SETOPTIONS, child, 0, options);
      trace(PTRACE_INTERRUPT, child, 0, uint64_t{0});
    } else if (stop_event(status) == kEventStop && execs <= 0) {
      return status;
    } else if (is_signal_stop(status)) {
      signal = stop_signal(status);
    }
    trace(is_group_stop(status) ? PTRACE_LISTEN : PTRACE_CONT, child, 0,
          static_cast<uint64_t>(signal));
  }
}

Error not_started(const Processes::LaunchOptions& options, int status, int report) {
  int why = 0;
  const std::string& name = options.argv[0];
  if (read(report, &why, sizeof why) == sizeof why)
    return errno_error(why, fmt::format("cannot run {}", name), Errc::Target);
  if (WIFSIGNALED(status))
    return {Errc::Target, fmt::format("{} was killed by signal {} before it started", name,
                                      WTERMSIG(status)), {}};
  // The shell has said why. GDB's users know these words of gdbserver's.
  return {Errc::Target,
          fmt::format("During startup program exited with code {}", WEXITSTATUS(status)), {}};
}

}  // namespace

Result<StopEvent> Programs::launch(const Processes::LaunchOptions& options) {
  if (options.argv.empty()) return {Errc::InvalidArgument, "no program to run"};
  TW_RETURN_IF_ERROR(stops_.prepare());
  const Plan plan = make_plan(options);
  if (core_.options.notice && !plan.here.passed_over.empty())
    core_.options.notice(fmt::format("{}: it is passed over; its path, as ./{}, starts it",
                                         plan.here.passed_over, printable(options.argv[0])));
  Pipe go_ahead, report;
  if (!go_ahead.open() || !report.open()) return errno_error("pipe", Errc::Target);
  const pid_t child = fork();
  if (child < 0) return errno_error("fork", Errc::Target);
  if (child == 0) become(plan, go_ahead.read_end.get(), report.write_end.get());
  report.write_end.reset();
  const uint64_t early = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (trace(PTRACE_SEIZE, child, 0, early) != 0) {
    const int why = errno;
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, __WALL);
    return errno_error(why, "ptrace", Errc::Target);
  }
  terminal_.lend(child, !options.keep_stdio_free);
  const char byte = 1;
  (void)!write(go_ahead.write_end.get(), &byte, 1);
  Patience patience(threads_.processes().empty() ? kStartNs : kStartBesideOthersNs,
                    core_.gives_up);
  const auto reached = run_to_program(child, plan.execs, trace_options(true), patience);
  const auto give_up = [&] {
    ::kill(child, SIGKILL);
    stops_.add_dying(child);
    stops_.see_off();
    terminal_.take_back();
  };
  if (!reached) {
    give_up();
    return {Errc::Target, fmt::format("{} does not start: it was killed after {} s in front of "
                                      "its first instruction", options.argv[0],
                                      patience.waited_ns() / kSecond)};
  }
  const int status = *reached;
  if (!WIFSTOPPED(status)) {
    terminal_.take_back();
    return not_started(options, status, report.read_end.get());
  }
  auto space = AddressSpace::open(child);
  if (space.ok() && plan.here.only && !runs_file(child, *plan.here.only))
    space = Error{Errc::Target,
                  fmt::format("{} is another file by now than the one that was found: its path, as "
                              "./{}, starts what is there", plan.here.path, options.argv[0]), {}};
  if (!space.ok()) {
    give_up();
    return std::move(space).error();
  }
  Process& process = threads_.add_process(child, *std::move(space));
  process.our_child = true;
  Thread& thread = threads_.add_thread(process, child);
  thread.run = Run::Stopped;
  thread.status = status;
  thread.begun = true;
  core_.untold.last_told = child;
  StopEvent event = event_of(StopEvent::Kind::Signal, thread);
  event.signal = SIGTRAP;
  return event;
}

}  // namespace tracewell::target::live
