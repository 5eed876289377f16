// tracewell COMMAND …, and other names of the same program (see commands.def).
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/files/patient.h"
#include "base/process/interrupt.h"
#include "base/process/standard_streams.h"
#include "cli/command.h"

namespace {

/// A file that may not grow further (ulimit -f) is an error that names it. Ignoring the signal
/// would do, too, but what we start would inherit that.
void keep_size_signal_from_ending_us() {
  struct sigaction action = {};
  ::sigaction(SIGXFSZ, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

/// Where nothing of a command has been reached, or all of it is over, or there is no memory for
/// more: the name that the program was started by, and its status for what the system refuses.
std::string_view own_name() { return ::program_invocation_short_name; }
int system_status() {
  constexpr int kGdbserverFailed = 1;
  return own_name() == "tracewell-gdbserver" ? kGdbserverFailed : tracewell::cli::kSystem;
}

int fail_for(const std::exception& error) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  std::fprintf(stderr, "%s: %s\n", own_name().data(), memory ? "out of memory" : error.what());
  return system_status();
}

/// Where an exception cannot go on to main(): in a thread, or where something is being tidied up.
/// Memory that is used up is no mistake of ours.
[[noreturn]] void end_at_once() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc& error) {
    std::_Exit(fail_for(error));
  } catch (const std::exception& error) {
    (void)fail_for(error);
  }
  std::abort();
}

/// What is made before main() needs memory, too. Where there is none, there is not even enough for
/// an exception that says so.
[[gnu::constructor(101)]] void say_what_ends_us_before_main() {
  std::set_terminate([] {
    constexpr std::string_view kText = ": out of memory\n";
    for (const std::string_view text : {own_name(), kText})
      (void)!::write(STDERR_FILENO, text.data(), text.size());
    std::_Exit(system_status());
  });
}

}  // namespace

int main(int argc, char** argv) {
  // Nobody could be told why.
  if (!tracewell::occupy_standard_streams()) return system_status();
  tracewell::let_signals_come();
  // A reader that went away (`| head`) ends us quietly: the default action of SIGPIPE does, but a
  // parent may have left it ignored.
  std::signal(SIGPIPE, SIG_DFL);
  // The kernel forgets how children of a process that ignores it have ended.
  std::signal(SIGCHLD, SIG_DFL);
  keep_size_signal_from_ending_us();
  tracewell::make_standard_streams_patient();
  tracewell::wait_for_readers_until(tracewell::asked_to_end);
  std::set_terminate(end_at_once);
  try {
    const int status = tracewell::cli::run_program({argv, argv + argc});
    const bool written = std::fflush(stdout) == 0;
    tracewell::end_if_interrupted();
    if (!written) {
      const std::string reason = std::strerror(errno);
      std::fprintf(stderr, "%s: cannot write standard output: %s\n", own_name().data(),
                   reason.c_str());
      return system_status();
    }
    return status;
  } catch (const std::exception& error) {  // out of memory, or a mistake of ours
    return fail_for(error);
  }
}
