#include "agent/buffer/pages_back.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/thread.h"

namespace tracewell::agent {

void PagesBack::start(const Job& job) {
  stop();
  ended_ = false;
  auto thread = start_helper_thread([this, job] { run(job); });
  if (thread.ok()) thread_ = *std::move(thread);
  else run(job);
}

void PagesBack::stop() {
  ended_ = true;
  if (thread_.joinable()) thread_.join();
}

void PagesBack::run(const Job& job) {
  // Page by page first: to unmap all of it at once would keep others from mapping anything.
  for (uint64_t at = 0; at < job.bytes && !ended_; at += kPieceBytes)
    (void)madvise(job.memory + at, std::min(kPieceBytes, job.bytes - at), MADV_DONTNEED);
  if (job.memory != nullptr) munmap(job.memory, job.bytes);
  for (uint64_t end = job.end; end > job.begin && !ended_;) {
    const uint64_t bytes = std::min(kPieceBytes, end - job.begin);
    end -= bytes;
    if (fallocate(job.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end),
                  static_cast<off_t>(bytes)) != 0)
      return;  // the file system cannot
  }
}

}  // namespace tracewell::agent
