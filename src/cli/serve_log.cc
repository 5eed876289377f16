#include "cli/serve_log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "agent/shown_text.h"
#include "base/named.h"
#include "base/patient.h"
#include "base/text.h"

namespace tracewell::cli {
namespace {

// So long a notice waits for somebody to read those before it; a program may stand still meanwhile.
constexpr int kUnreadMs = 1000;

}  // namespace

ServeLog::~ServeLog() {
  if (file_) std::fclose(file_);
}

Status ServeLog::set_file(const std::string& path) {
  std::FILE* file = nullptr;
  if (!path.empty()) {
    TW_ASSIGN_OR_RETURN(
        UniqueFd fd,
        open_named_for(path, {.read = false, .write = true, .create = true, .truncate = true}));
    file = ::fdopen(fd.get(), "w");
    if (!file) return errno_error("cannot write " + printable(path));
    fd.release();
  }
  if (file_) std::fclose(file_);
  file_ = file;
  return {};
}

bool ServeLog::set_format(std::string_view text) {
  bool on = false;
  for (std::string_view word : split(text, ',')) {
    if (word == "all" || word == "timestamp") on = true;
    else if (word == "none" || word.empty()) on = false;
    else return false;
  }
  timestamps = on;
  return true;
}

bool ServeLog::set(std::string_view name, std::string_view value) {
  if (name == "debug-file") {
    const Status set = set_file(std::string(value));
    if (!set) notice("debug-file: " + set.error().text());
    return set.ok();
  }
  if (name == "debug-format") return set_format(value);
  bool* flag = name == "debug" ? &debug : name == "remote-debug" ? &packets : nullptr;
  if (!flag || (value != "0" && value != "1")) return false;
  *flag = value == "1";
  return true;
}

void ServeLog::notice(std::string_view line) const {
  const std::string shown = agent::shown_text(line);
  to_stderr(shown + "\n", kUnreadMs);
  if (debug && file_) print(shown);
}

void ServeLog::packet(bool received, std::string_view packet) const {
  if (!packets) return;
  constexpr size_t kShown = 400;
  const std::string shown = printable(packet.substr(0, kShown));
  print(fmt::format("{} \"{}\"{}", received ? "packet:" : "reply: ", shown,
                    packet.size() > kShown ? fmt::format("… ({} bytes)", packet.size()) : ""));
}

void ServeLog::print(std::string_view line) const {
  std::string text;
  if (timestamps) {
    using namespace std::chrono;
    const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
    text = fmt::format("{}.{:06} ", now / 1000000, now % 1000000);
  }
  text += fmt::format("{}\n", line);
  if (!file_) return to_stderr(std::move(text), -1);
  fmt::print(file_, "{}", text);
  std::fflush(file_);
}

/// At once: scripts wait for these lines. In pieces that a pipe takes whole when it takes any.
void ServeLog::to_stderr(std::string line, int patience_ms) const {
  const std::lock_guard lock(mutex_);
  if (left_out_ != 0) {
    line.insert(0, fmt::format("{} lines are missing here: nobody read them\n", left_out_));
    patience_ms = std::min(patience_ms, 0);  // who had none before has some when it is read again
  }
  for (Bytes rest = as_bytes(line); !rest.empty();) {
    if (!has_room(patience_ms)) {
      ++left_out_;
      return;
    }
    const Bytes piece = rest.first(std::min<size_t>(rest.size(), PIPE_BUF));
    if (write_patiently(STDERR_FILENO, piece) != piece.size()) return;
    rest = rest.subspan(piece.size());
  }
  left_out_ = 0;
}

bool ServeLog::has_room(int patience_ms) const {
  struct pollfd fds[] = {{STDERR_FILENO, POLLOUT, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, patience_ms) < 0)
    if (errno != EINTR) return true;
  return fds[0].revents != 0;
}

}  // namespace tracewell::cli
