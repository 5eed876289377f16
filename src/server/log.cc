#include "server/log.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "agent/session/shown_text.h"
#include "base/files/named.h"
#include "base/text/text.h"

namespace tracewell::server {
namespace {

// So long a notice waits for somebody to read those before it; a program may stand still meanwhile.
constexpr int kUnreadMs = 1000;

}  // namespace

Status ServeLog::set_file(const std::string& path) {
  UniqueFd file;
  if (!path.empty()) {
    // Once signals to end are only noted, nothing may wait for others without looking at them.
    TW_ASSIGN_OR_RETURN(file, open_named_for(path, {.read = false,
                                                    .write = true,
                                                    .create = true,
                                                    .truncate = true,
                                                    .wait = quit_fd < 0}));
    ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
  }
  const std::lock_guard lock(file_mutex_);
  file_ = std::move(file);
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
  to_user(shown + "\n", kUnreadMs);
  if (debug && file_.valid()) print(shown);
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
  if (!file_.valid()) return to_user(std::move(text), -1);
  const std::lock_guard lock(file_mutex_);
  put(file_.get(), as_bytes(text), -1);
}

/// At once: scripts wait for these lines.
void ServeLog::to_user(std::string line, int patience_ms) const {
  const std::lock_guard lock(mutex_);
  if (left_out_ != 0) {
    line.insert(0, fmt::format("{} lines are missing here: nobody read them\n", left_out_));
    patience_ms = std::min(patience_ms, 0);  // who had none before has some when it is read again
  }
  if (put(fd_, as_bytes(line), patience_ms)) left_out_ = 0;
  else ++left_out_;
}

/// False: nobody reads, or the server is to end. In pieces that a pipe takes whole when it takes
/// any.
bool ServeLog::put(int fd, Bytes text, int patience_ms) const {
  while (!text.empty()) {
    if (!has_room(fd, patience_ms)) return false;
    const ssize_t put = ::write(fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (put >= 0) text = text.subspan(static_cast<size_t>(put));
    else if (errno != EINTR && errno != EAGAIN) return true;  // there is nobody to tell
  }
  return true;
}

bool ServeLog::has_room(int fd, int patience_ms) const {
  struct pollfd fds[] = {{fd, POLLOUT, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, patience_ms) < 0)
    if (errno != EINTR) return true;
  return fds[0].revents != 0;
}

}  // namespace tracewell::server
