#include "server/connection/link.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/process/thread.h"

namespace tracewell::server {
namespace {

/// Now, without waiting.
bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

}  // namespace

Link::Link(Transport& transport, int quit_fd, std::function<void()> wake)
    : transport_(transport), quit_fd_(quit_fd), wake_(std::move(wake)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    status_ = errno_error("cannot wait for a debugger");
    return;
  }
  poke_read_ = UniqueFd(ends[0]);
  poke_write_ = UniqueFd(ends[1]);
  if (auto thread = start_thread([this] { run(); })) thread_ = *std::move(thread);
  else status_ = thread.error();
}

Link::~Link() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  poke();
  condition_.notify_one();
  if (thread_.joinable()) thread_.join();
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
  // The thread may be polling the descriptor, and the connection stays while it does.
  connection_ = {};
  inbox_.clear();
  outbox_.clear();
  sent_ = 0;
  open_ = connected_ = lost_ = deaf_ = false;
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

bool Link::has_room() const {
  const std::lock_guard lock(mutex_);
  return waiting() < kOutboxMax;
}

bool Link::is_sent() const {
  const std::lock_guard lock(mutex_);
  return waiting() == 0 || deaf_;
}

bool Link::unheard() const {
  const std::lock_guard lock(mutex_);
  return !connected_ || deaf_ || is_unheard(connection_, lost_);
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
  const std::lock_guard lock(mutex_);
  if (inbox_.size() >= kInboxMax) poke();
  return std::exchange(inbox_, {});
}

bool Link::send(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (deaf_) return false;
  if (bytes.empty()) return true;
  if (!connected_) return false;
  outbox_ += bytes;
  (void)send_waiting();
  return !deaf_;
}

/// With the lock held. Is it news? There is room again, or nothing waits any more.
bool Link::send_waiting() {
  const size_t before = waiting();
  if (before == 0 || deaf_) return false;
  const auto size = send_some(connection_.write_fd(), std::string_view(outbox_).substr(sent_));
  deaf_ = !size;
  sent_ += size ? *size : 0;
  const size_t left = waiting();
  if (left == 0) {
    outbox_.clear();
    sent_ = 0;
  } else if (sent_ >= kOutboxMax) {
    outbox_.erase(0, std::exchange(sent_, 0));
  }
  return deaf_ || left == 0 || (before >= kOutboxMax && left < kOutboxMax);
}

void Link::finish_sending(int patience_ms, int all_ms) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  const auto end = Clock::now() + milliseconds(all_ms);
  auto until = Clock::now();
  size_t before = 0;
  while (!is_sent() && !quitting()) {
    const auto now = Clock::now();
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(before, waiting()) != waiting())
        until = std::min(end, now + milliseconds(patience_ms));
    }
    if (now >= until) return;
    wait(static_cast<int>(std::chrono::ceil<milliseconds>(until - now).count()));
  }
}

void Link::poke() { (void)!::write(poke_write_.get(), "x", 1); }

void Link::watch(bool on) {
  {
    const std::lock_guard lock(mutex_);
    watching_ = on;
    // It may poll still since before there was anything to be sent.
    if (on && waiting() > 0) poke();
  }
  // When it is over, the thread is left where it polls: the next thing that it sees sends it to
  // sleep, if no other watch has begun by then.
  if (on) condition_.notify_one();
}

void Link::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      condition_.wait(lock, [this] { return watching_ || stop_; });
      if (stop_) return;
    }
    if (look(true)) wake_();
  }
}

/// Polls once. Is there something new?
bool Link::look(bool watching, int most_ms) {
  struct pollfd fds[] = {{watching ? poke_read_.get() : -1, POLLIN, 0},
                         {quitting_ ? -1 : quit_fd_, POLLIN, 0},
                         {-1, POLLIN, 0},
                         {-1, POLLOUT, 0}};
  bool at_once = false;
  {
    const std::lock_guard lock(mutex_);
    if (wants_connection()) {
      fds[2].fd = transport_.listen_fd();
      at_once = fds[2].fd < 0;
    } else if (connected_ && !lost_ && inbox_.size() < kInboxMax) {
      fds[2].fd = connection_.input.get();
    }
    if (connected_ && !deaf_ && waiting() > 0) fds[3].fd = connection_.write_fd();
  }
  if (!at_once && ::poll(fds, 4, most_ms) <= 0) return false;
  if (fds[0].revents != 0) {
    char sink[64];
    while (::read(poke_read_.get(), sink, sizeof sink) > 0) {
    }
    return false;  // look again at what to poll
  }
  const std::lock_guard lock(mutex_);
  if (watching && !watching_) return false;
  if (fds[1].revents != 0) return quitting_ = true;
  const bool sent = fds[3].revents != 0 && send_waiting();
  if (!at_once && fds[2].revents == 0) return sent;
  return (wants_connection() ? accept() : receive()) || sent;
}

bool Link::accept() {
  // What a thread saw while it polled may be of the connection before, and nobody be there now.
  if (transport_.listen_fd() >= 0 && !readable(transport_.listen_fd())) return false;
  auto connection = transport_.accept();
  const bool once = transport_.listen_fd() < 0;
  spent_ = once;
  if (!connection) return once;  // else nobody who is a debugger, yet
  connection_ = *std::move(connection);
  inbox_ = std::exchange(connection_.early, {});
  connected_ = true;
  lost_ = deaf_ = false;
  poke();  // the other thread may still poll for who comes, and would go on to
  return true;
}

bool Link::receive() {
  if (!connected_ || lost_) return false;
  // Both threads may have been polling, and the other one may have read it all: not to be waited
  // for, with the lock held.
  if (!readable(connection_.input.get())) return false;
  char buffer[1 << 16];
  const ssize_t size = ::read(connection_.input.get(), buffer, sizeof buffer);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size > 0) inbox_.append(buffer, static_cast<size_t>(size));
  else lost_ = true;
  return true;
}

}  // namespace tracewell::server
