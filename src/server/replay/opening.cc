#include "server/replay/opening.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/process/thread.h"

namespace tracewell::server {

Result<std::unique_ptr<Opening>> Opening::start(Work work) {
  UniqueFd done(::eventfd(0, EFD_CLOEXEC));
  if (!done.valid()) return errno_error("cannot wait for the trace");
  std::unique_ptr<Opening> opening(new Opening(std::move(done)));
  auto thread = start_thread([self = opening.get(), work = std::move(work)] {
    self->opened_ = with_memory_bounded([&] { return work(self->stop_, self->writes_); });
    self->ended_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(self->done_.get(), &one, sizeof one);
  });
  TW_ASSIGN_OR_RETURN(opening->thread_, std::move(thread));
  return opening;
}

Opening::~Opening() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<Recording*> Opening::result() {
  if (thread_.joinable()) thread_.join();
  if (!opened_.ok()) return opened_.error();
  return opened_->get();
}

Status Opening::outcome(int quit_fd) {
  struct pollfd fds[] = {{done_.get(), POLLIN, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, -1) < 0)
    if (errno != EINTR) return errno_error("poll");
  if (fds[0].revents == 0) return {};
  TW_RETURN_IF_ERROR(result());
  return {};
}

bool Opening::stop() {
  stop_ = true;
  return ended_ || writes_;
}

}  // namespace tracewell::server
