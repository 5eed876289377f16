#include "agent/buffer/pages_back.h"

#include "base/process/thread.h"

namespace tracewell::agent {

void PagesBack::start(Piece piece) {
  wait();
  ended_ = false;
  auto thread = start_helper_thread([this, piece] {
    while (!stop_.load(std::memory_order_relaxed) && piece())
      if (tell_) tell_();
    ended_.store(true, std::memory_order_release);
    if (tell_) tell_();
  });
  if (thread.ok()) {
    thread_ = *std::move(thread);
    return;
  }
  run(piece);
  ended_ = true;
}

void PagesBack::wait() {
  if (thread_.joinable()) thread_.join();
}

void PagesBack::stop() {
  stop_ = true;
  wait();
  stop_ = false;
}

}  // namespace tracewell::agent
