#include "target/linux/fast/yielding.h"

#include <algorithm>
#include <thread>

namespace tracewell::target::live {

bool may_yield(const ThreadTable& all, const Process& process, size_t looks_without) {
  const size_t threads = process.threads.size();
  if (threads <= std::thread::hardware_concurrency() || looks_without < threads) return false;
  if (process.catches_calls) return false;
  return std::ranges::none_of(all.processes(), [&](const auto& one) {
    return one.second.get() != &process && one.second->space == process.space;
  });
}

}  // namespace tracewell::target::live
