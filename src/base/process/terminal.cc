#include "base/process/terminal.h"

#include <unistd.h>

#include <cstdlib>

#include "base/files/open.h"

namespace tracewell {

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

bool errors_are_terminal() { return ::isatty(STDERR_FILENO) != 0; }

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

}  // namespace tracewell
