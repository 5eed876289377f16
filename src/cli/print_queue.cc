#include "cli/print_queue.h"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/named.h"
#include "base/thread.h"
#include "cli/transport.h"

namespace tracewell::cli {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookMs(100);

/// One that others share blocks where they fill it between a look and a write.
UniqueFd unblocked(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)))
    return {};
  auto opened = open_named_for(fmt::format("/proc/self/fd/{}", fd),
                               {.read = false, .write = true, .wait = false});
  return opened.ok() ? *std::move(opened) : UniqueFd();
}

}  // namespace

PrintQueue::PrintQueue(int fd, int quit_fd) : fd_(fd), own_(unblocked(fd)), quit_fd_(quit_fd) {
  if (own_.valid()) fd_ = own_.get();
}

PrintQueue::~PrintQueue() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PrintQueue::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (text.empty()) return;
  write_some();
  if (closed_) return;
  if (!waiting_.empty() && cost_ + text.size() > kWaitingMax) {
    ++left_out_;
    return;
  }
  if (left_out_ != 0) add_note();
  add({std::string(text)});
  write_some();
  if (waiting_.empty()) return;
  if (!thread_.joinable())  // without one, what waits goes out with the next text
    if (auto thread = start_helper_thread([this] { run(); })) thread_ = *std::move(thread);
  changed_.notify_all();
}

/// With the lock held, as all that follow.
void PrintQueue::add(Text text) {
  in_line_ = text.bytes.back() != '\n';
  cost_ += text.cost();
  waiting_.push_back(std::move(text));
}

void PrintQueue::add_note() {
  const uint64_t texts = std::exchange(left_out_, 0);
  add({fmt::format("{}tracewell: {} missing here: nobody read what breakpoint commands print\n",
                   in_line_ ? "\n" : "",
                   texts == 1 ? "1 text is" : fmt::format("{} texts are", texts)),
       texts});
}

/// Without waiting.
void PrintQueue::write_some() {
  while (!waiting_.empty()) {
    const std::string_view text = waiting_.front().bytes;
    const auto taken = send_some(fd_, text.substr(sent_));
    if (!taken.ok()) {
      closed_ = true;
      waiting_.clear();
      cost_ = sent_ = left_out_ = 0;
      return;
    }
    sent_ += *taken;
    if (sent_ < text.size()) return;
    sent_ = 0;
    cost_ -= waiting_.front().cost();
    waiting_.pop_front();
    if (waiting_.empty() && left_out_ != 0) add_note();
  }
}

void PrintQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || ends_; });
    if (ends_) return;
    lock.unlock();
    struct pollfd one{fd_, POLLOUT, 0};
    (void)::poll(&one, 1, static_cast<int>(kLookMs.count()));
    lock.lock();
    write_some();
  }
}

uint64_t PrintQueue::finish(int patience_ms, int all_ms) {
  const auto all = Steady::now() + milliseconds(all_ms);
  auto until = Steady::now() + milliseconds(patience_ms);
  const std::lock_guard lock(mutex_);
  bool quits = false;
  for (size_t before = 0; !waiting_.empty() && !quits;) {
    const auto now = Steady::now();
    const size_t left = cost_ - sent_;
    if (std::exchange(before, left) != left) until = now + milliseconds(patience_ms);
    if (now >= std::min(until, all)) break;
    const auto most = std::chrono::ceil<milliseconds>(std::min(until, all) - now);
    struct pollfd fds[] = {{fd_, POLLOUT, 0}, {quit_fd_, POLLIN, 0}};
    (void)::poll(fds, 2, static_cast<int>(most.count()));
    quits = fds[1].revents != 0;
    write_some();
  }
  uint64_t texts = left_out_;
  for (const Text& one : waiting_) texts += one.stands_for;
  return texts;
}

}  // namespace tracewell::cli
