#include "hooks/foreground/input_lines.h"

#include <unistd.h>

#include <cerrno>

namespace tracewell::hooks {

std::optional<std::string> InputLines::next(const HeldSignals& signals, int& signal) {
  for (size_t seen = 0;;) {
    const size_t end = text_.find('\n', seen);
    if (end != std::string::npos) return take(end, end + 1);
    seen = text_.size();
    signal = signals.wait_for(fd_);
    if (signal != 0) return std::nullopt;
    char piece[4096];
    const ssize_t got = ::read(fd_, piece, sizeof piece);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0 && text_.empty()) return std::nullopt;
    if (got <= 0) return take(text_.size(), text_.size());
    text_.append(piece, static_cast<size_t>(got));
  }
}

std::string InputLines::take(size_t end, size_t rest) {
  std::string line = text_.substr(0, end);
  text_.erase(0, rest);
  return line;
}

}  // namespace tracewell::hooks
