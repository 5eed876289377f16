#include "hooks/log/holes.h"

#include <algorithm>

namespace tracewell::hooks {

ZeroRun find_zeros(Bytes bytes, size_t pages) {
  size_t begin = 0;  // of the run that ends at `at`
  for (size_t at = 0; at < bytes.size();) {
    const Bytes page = bytes.subspan(at, std::min(kHolePage, bytes.size() - at));
    const bool zero = std::ranges::all_of(page, [](uint8_t byte) { return byte == 0; });
    if (!zero && at - begin >= pages * kHolePage) return {begin, at - begin};
    at += page.size();
    if (!zero) begin = at;
  }
  if (bytes.size() - begin < pages * kHolePage) return {bytes.size(), 0};
  return {begin, bytes.size() - begin};
}

}  // namespace tracewell::hooks
