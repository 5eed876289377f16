#include "cli/transport_link.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace tracewell::cli {

Link::Link(Transport& transport, int quit_fd, std::function<void()> wake)
    : transport_(transport), quit_fd_(quit_fd), wake_(std::move(wake)) {
  int ends[2];
  TW_CHECK(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  poke_read_ = UniqueFd(ends[0]);
  poke_write_ = UniqueFd(ends[1]);
  thread_ = std::thread([this] { run(); });
}

Link::~Link() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  poke();
  thread_.join();
}

void Link::open() {
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  poke();
}

void Link::close() {
  const std::lock_guard lock(mutex_);
  // The thread may be polling the descriptor: it must look again before the number means another.
  connection_ = {};
  inbox_.clear();
  open_ = connected_ = lost_ = false;
  poke();
}

bool Link::connected() const {
  const std::lock_guard lock(mutex_);
  return connected_;
}

bool Link::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_ && inbox_.empty();
}

bool Link::exhausted() const {
  const std::lock_guard lock(mutex_);
  return spent_ && !connected_;
}

std::string Link::peer() const {
  const std::lock_guard lock(mutex_);
  return connection_.peer;
}

std::string Link::take_input() {
  std::string out;
  {
    const std::lock_guard lock(mutex_);
    out.swap(inbox_);
  }
  if (!out.empty()) poke();
  return out;
}

bool Link::send(std::string_view bytes) {
  if (bytes.empty()) return true;
  // Only the main thread replaces the connection, so it may be used here without the lock.
  if (!connected()) return false;
  return send_all(connection_, bytes, quit_fd_).ok();
}

void Link::wait() {
  std::unique_lock lock(mutex_);
  condition_.wait(lock, [this] { return news_; });
  news_ = false;
}

void Link::poke() { (void)!::write(poke_write_.get(), "x", 1); }

void Link::changed() {
  {
    const std::lock_guard lock(mutex_);
    news_ = true;
  }
  condition_.notify_one();
  wake_();
}

void Link::run() {
  while (step()) {
  }
}

/// Polls once. False = the end.
bool Link::step() {
  struct pollfd fds[] = {{poke_read_.get(), POLLIN, 0}, {quit_fd_, POLLIN, 0}, {-1, POLLIN, 0}};
  bool accepting = false;
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return false;
    if (quitting_) fds[1].fd = -1;
    accepting = open_ && !connected_ && !spent_;
    if (accepting) fds[2].fd = transport_.listen_fd();
    else if (connected_ && !lost_ && inbox_.size() < kInboxMax) fds[2].fd = connection_.input.get();
  }
  if (accepting && fds[2].fd < 0) {
    accept();
    return true;
  }
  if (::poll(fds, 3, -1) < 0 && errno != EINTR) return false;
  if (fds[0].revents != 0) {
    char sink[64];
    while (::read(poke_read_.get(), sink, sizeof sink) > 0) {
    }
    return true;  // look again at what to poll
  }
  if (fds[1].revents != 0) {
    quitting_ = true;
    changed();
    return true;
  }
  if (fds[2].revents == 0) return true;
  if (accepting) accept();
  else receive();
  return true;
}

void Link::accept() {
  auto connection = transport_.accept();
  {
    const std::lock_guard lock(mutex_);
    const bool once = transport_.listen_fd() < 0;
    spent_ = once;
    if (connection && open_) {
      connection_ = *std::move(connection);
      connected_ = true;
      lost_ = false;
    } else if (!once) {
      return;  // a caller that hung up before we answered
    }
  }
  changed();
}

void Link::receive() {
  {
    const std::lock_guard lock(mutex_);
    if (!connected_) return;
    char buffer[1 << 16];
    const ssize_t size = ::read(connection_.input.get(), buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size > 0) inbox_.append(buffer, static_cast<size_t>(size));
    else lost_ = true;
  }
  changed();
}

}  // namespace tracewell::cli
