#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "base/open.h"

namespace tracewell::cli {

bool output_is_terminal() {
  return isatty(STDOUT_FILENO) != 0;
}

bool is_output(const std::string& path) {
  if (path == "-") return true;
  const auto named = facts_at(path);
  const auto output = facts_of(STDOUT_FILENO, "standard output");
  return named && output.ok() && named->is_same(*output);
}

bool output_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return output_is_terminal() && (no_color == nullptr || *no_color == '\0');
}

Progress::Progress(std::string_view what, std::optional<uint64_t> total, bool lines)
    : what_(what),
      total_(total),
      in_place_(isatty(STDERR_FILENO) != 0),
      wanted_(in_place_ || lines),
      next_(Clock::now() + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (shown_ && in_place_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::at(uint64_t done) {
  if (!wanted_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(in_place_ ? 200 : 2000);
  shown_ = true;
  const std::string of =
      total_ && *total_ != 0 ? fmt::format(" of {} ({}%)", *total_, done * 100 / *total_) : "";
  if (in_place_) fmt::print(stderr, "\r\x1b[K{}: {}{}", what_, done, of);
  else fmt::print(stderr, "tracewell: {}: {}{}\n", what_, done, of);
  std::fflush(stderr);
}

}  // namespace tracewell::cli
