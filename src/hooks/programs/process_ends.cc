#include "hooks/programs/process_ends.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace tracewell::hooks {

void ProcessEnds::watch(uint32_t pid) {
  if (watched_.size() >= kMost || watched_.contains(pid)) return;
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (fd.valid()) watched_.emplace(pid, std::move(fd));
}

std::vector<uint32_t> ProcessEnds::take() {
  std::vector<pollfd> asked;
  std::vector<uint32_t> pids, out;
  for (const auto& [pid, fd] : watched_) {
    asked.push_back({fd.get(), POLLIN, 0});
    pids.push_back(pid);
  }
  if (asked.empty() || ::poll(asked.data(), asked.size(), 0) <= 0) return out;
  for (size_t i = 0; i < asked.size(); ++i)
    if (asked[i].revents != 0) out.push_back(pids[i]);
  for (const uint32_t pid : out) watched_.erase(pid);
  return out;
}

}  // namespace tracewell::hooks
