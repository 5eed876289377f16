#include "server/live/print_queue.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/files/named.h"
#include "base/process/thread.h"

namespace tracewell::server {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookMs(100);
constexpr milliseconds kQuitLookMs(10);

bool is_ready(int fd, short events, milliseconds most) {
  struct pollfd one{fd, events, 0};
  return ::poll(&one, 1, static_cast<int>(most.count())) > 0;
}

}  // namespace

struct PrintQueue::Shared {
  struct Text {
    std::string bytes;
    uint64_t missing = 0;  // texts that were left out before it
    size_t cost() const { return sizeof *this + bytes.size(); }
  };
  explicit Shared(int fd);
  void run();
  bool fill();
  ssize_t write_piece() const;
  void taken(ssize_t size, int error);
  void write_some();

  UniqueFd fd;           // our own: the thread may be left with it
  bool socket = false;
  bool blocks = false;   // a write may wait, so only the thread writes, and without the lock
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Text> waiting;
  size_t cost = 0;        // of what waits
  size_t begun = 0;       // bytes of the first that are, or were, in the piece
  uint64_t left_out = 0;  // texts behind what waits
  uint64_t untold = 0;    // texts not taken, nor a note that they are missing
  uint64_t bytes = 0;     // that were taken
  bool closed = false;    // nobody can read any more
  bool failed = false;    // to write: the disk may have room again
  bool running = false;   // the thread: it waits until more is taken
  bool ends = false;

  // What is written next: a part of a text, or a note. The thread's alone if `blocks`.
  std::array<char, PIPE_BUF> piece;
  size_t size = 0, sent = 0;
  uint64_t completes = 0;  // so many texts are told of when it is taken
  bool in_line = false;    // it ends within a line
};

/// A pipe or terminal that others share blocks where they fill it between a look and a write. One
/// that is opened once more for ourselves never does; but what is another user's cannot be.
PrintQueue::Shared::Shared(int borrowed) {
  struct stat status = {};
  const bool known = ::fstat(borrowed, &status) == 0;
  socket = known && S_ISSOCK(status.st_mode);
  if (known && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
    auto opened = open_named_for(fmt::format("/proc/self/fd/{}", borrowed),
                                 {.read = false, .write = true, .wait = false});
    if (opened.ok()) fd = *std::move(opened);
    blocks = !opened.ok();
  }
  if (!fd.valid()) fd = UniqueFd(::fcntl(borrowed, F_DUPFD_CLOEXEC, 0));
}

/// With the lock held, as all that follow but write_piece() and run(). False: nothing waits. It
/// allocates nothing: an exception would end the thread, and the server.
bool PrintQueue::Shared::fill() {
  if (sent < size) return true;
  sent = size = 0;
  uint64_t& missing = waiting.empty() ? left_out : waiting.front().missing;
  if (missing != 0) {
    completes = std::exchange(missing, 0);
    const auto end = fmt::format_to_n(
        piece.data(), piece.size(),
        "{}tracewell: {} {} missing here: nobody read what breakpoint commands print\n",
        in_line ? "\n" : "", completes, completes == 1 ? "text is" : "texts are");
    size = end.size;
    in_line = false;
    return true;
  }
  if (waiting.empty()) return false;
  const Text& text = waiting.front();
  size = text.bytes.copy(piece.data(), piece.size(), begun);
  in_line = piece[size - 1] != '\n';
  begun += size;
  if (begun == text.bytes.size()) {
    completes = 1;
    begun = 0;
    cost -= text.cost();
    waiting.pop_front();
  }
  return true;
}

ssize_t PrintQueue::Shared::write_piece() const {
  const char* bytes_left = piece.data() + sent;
  return socket ? ::send(fd.get(), bytes_left, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL)
                : ::write(fd.get(), bytes_left, size - sent);
}

void PrintQueue::Shared::taken(ssize_t taken_size, int error) {
  failed = taken_size < 0 && error != EAGAIN && error != EINTR;
  if (taken_size > 0) {
    sent += static_cast<size_t>(taken_size);
    bytes += static_cast<uint64_t>(taken_size);
    if (sent == size) untold -= std::exchange(completes, 0);
  } else if (failed && error == EPIPE) {
    closed = true;
    waiting.clear();
    cost = begun = size = sent = 0;
    left_out = untold = completes = 0;
  }
  if (untold == 0) changed.notify_all();
}

/// Without waiting.
void PrintQueue::Shared::write_some() {
  while (fill()) {
    const ssize_t taken_size = write_piece();
    taken(taken_size, errno);
    if (taken_size <= 0) return;
  }
}

void PrintQueue::Shared::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return untold != 0 || ends; });
    if (failed) changed.wait_for(lock, kLookMs, [this] { return ends; });
    if (ends) return;
    const bool writes = blocks && fill();
    lock.unlock();
    ssize_t taken_size = -1;
    errno = EAGAIN;
    if (is_ready(fd.get(), POLLOUT, kLookMs) && writes) taken_size = write_piece();
    const int error = errno;
    lock.lock();
    if (writes) taken(taken_size, error);
    else if (!ends) write_some();
  }
}

PrintQueue::PrintQueue(int fd, int quit_fd)
    : shared_(std::make_shared<Shared>(fd)), quit_fd_(quit_fd) {}

PrintQueue::~PrintQueue() {
  const std::lock_guard lock(shared_->mutex);
  shared_->ends = true;
  shared_->changed.notify_all();
}

void PrintQueue::print(std::string_view text) {
  Shared& queue = *shared_;
  const std::lock_guard lock(queue.mutex);
  if (text.empty()) return;
  if (!queue.blocks) queue.write_some();
  if (queue.closed) return;
  if (!queue.waiting.empty() && queue.cost + text.size() > kWaitingMax) {
    ++queue.left_out;
    ++queue.untold;
    return;
  }
  queue.waiting.push_back({std::string(text), queue.left_out});
  queue.left_out = 0;
  queue.cost += queue.waiting.back().cost();
  ++queue.untold;
  if (!queue.blocks) queue.write_some();
  if (queue.untold == 0) return;
  if (!queue.running)  // without one, what waits goes out with the next text, or never if it blocks
    if (auto thread = start_helper_thread([shared = shared_] { shared->run(); })) {
      thread->detach();
      queue.running = true;
    }
  queue.changed.notify_all();
}

uint64_t PrintQueue::finish(Patience usual, Patience at_quit) {
  Shared& queue = *shared_;
  std::unique_lock lock(queue.mutex);
  auto since = Steady::now();
  auto all = since + milliseconds(usual.all_ms);
  int idle_ms = usual.idle_ms;
  bool quits = false;
  for (uint64_t before = queue.bytes;;) {
    if (!queue.blocks) queue.write_some();
    const auto now = Steady::now();
    if (!quits && is_ready(quit_fd_, POLLIN, milliseconds(0))) {
      quits = true;
      since = now;
      all = std::min(all, now + milliseconds(at_quit.all_ms));
      idle_ms = at_quit.idle_ms;
    }
    if (std::exchange(before, queue.bytes) != queue.bytes) since = now;
    const auto until = std::min(since + milliseconds(idle_ms), all);
    if (queue.untold == 0 || queue.failed || now >= until) return queue.untold;
    queue.changed.wait_for(lock, kQuitLookMs);
  }
}

}  // namespace tracewell::server
