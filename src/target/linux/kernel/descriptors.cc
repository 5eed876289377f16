#include "target/linux/kernel/descriptors.h"

#include <sys/eventfd.h>

namespace tracewell::target::live {
namespace {

rlimit g_before{};  // of nobody when both are 0

}  // namespace

void raise_descriptor_limit() {
  rlimit now{};
  if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur == now.rlim_max) return;
  g_before = now;
  now.rlim_cur = now.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &now) != 0) g_before = {};
}

void give_back_descriptor_limit() {
  if (g_before.rlim_max != 0) setrlimit(RLIMIT_NOFILE, &g_before);
}

void SpareDescriptors::refill() {
  while (held_.size() < kSpares) {
    UniqueFd one(eventfd(0, EFD_CLOEXEC));
    if (!one.valid()) return;
    held_.push_back(std::move(one));
  }
}

bool SpareDescriptors::give() {
  const bool any = !held_.empty();
  held_.clear();
  return any;
}

}  // namespace tracewell::target::live
