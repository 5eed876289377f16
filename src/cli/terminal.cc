#include "cli/terminal.h"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace tracewell::cli {

bool output_is_terminal() {
  return isatty(STDOUT_FILENO) != 0;
}

bool output_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return output_is_terminal() && (no_color == nullptr || *no_color == '\0');
}

Progress::Progress(std::string_view what, std::optional<uint64_t> total)
    : what_(what),
      total_(total),
      wanted_(isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::at(uint64_t done) {
  if (!wanted_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(200);
  shown_ = true;
  if (total_ && *total_ != 0)
    fmt::print(stderr, "\r\x1b[K{}: {} of {} ({}%)", what_, done, *total_, done * 100 / *total_);
  else
    fmt::print(stderr, "\r\x1b[K{}: {}", what_, done);
  std::fflush(stderr);
}

}  // namespace tracewell::cli
