// tracewell COMMAND …, and other names of the same program (see commands.def).
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/interrupt.h"

int main(int argc, char** argv) {
  // A reader that went away (`| head`) ends us quietly: the default action of SIGPIPE does, but a
  // parent may have left it ignored.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    const int status = tracewell::cli::run_program({argv, argv + argc});
    const bool written = std::fflush(stdout) == 0;
    tracewell::cli::end_if_interrupted();
    if (!written) {
      std::perror("tracewell: cannot write standard output");
      return tracewell::cli::kSystem;
    }
    return status;
  } catch (const std::exception& error) {  // out of memory, or a mistake of ours
    std::fprintf(stderr, "tracewell: %s\n", error.what());
    return tracewell::cli::kSystem;
  }
}
