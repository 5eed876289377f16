#include "fast/collector_code.h"

#include "base/check.h"
#include "ring/frame_ring.h"

// Of inproc/collect; the build puts it here (cmake/collector.cmake).
extern "C" const uint8_t tracewell_collector_begin[];
extern "C" const uint8_t tracewell_collector_end[];

namespace tracewell::fast {

Bytes collector_code() { return {tracewell_collector_begin, tracewell_collector_end}; }

const tracewell_collector& collector_head() {
  const auto& head = *reinterpret_cast<const tracewell_collector*>(tracewell_collector_begin);
  TW_CHECK(head.magic == TRACEWELL_COLLECTOR_MAGIC && head.bytes == collector_code().size());
  TW_CHECK(head.geometry + sizeof(tracewell_geometry) <= head.bytes);
  return head;
}

}  // namespace tracewell::fast
