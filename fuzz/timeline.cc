// The parts of an index from outside, as a damaged sidecar has them: whatever they are, each
// question gets an answer, and nothing is read that is not there. Before each part stands its size.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "timeline/call_tree.h"
#include "timeline/search.h"
#include "timeline/timeline.h"

namespace {

using namespace tracewell;
using namespace tracewell::timeline;

constexpr uint64_t kSteps = 5000;

Segment segment_of(ByteReader& in, uint64_t first) {
  Segment segment;
  segment.first = first;
  segment.count = kSteps;
  const auto piece = [&in] {
    const uint64_t wanted = in.uint(2).value_or(0);
    return *in.take(wanted < in.left() ? wanted : in.left());
  };
  for (Bytes& part : segment.parts) part = piece();
  segment.seams = piece();
  segment.call_marks = piece();
  segment.opened = in.uint(1).value_or(0) % 2 != 0;
  return segment;
}

void ask(const Timeline& timeline, uint64_t at) {
  std::vector<uint8_t> bytes(64);
  std::vector<ByteState> states(64);
  const AddressRange range = {0x7000, 0x7100}, all = {0, UINT64_MAX};
  timeline.memory(at, 0x7000, bytes, states);
  for (const uint8_t kinds : {kReads, kWrites, kAccesses, kOthers}) {
    timeline.next_access(range, kinds, at);
    timeline.last_access(all, kinds, at);
  }
  timeline.changes_by_others(at, range);
  timeline.next_execution(all, at);
  timeline.last_execution(range, at);
  for (uint32_t index = 0; index < 20; ++index) {
    timeline.next_change(index, ChangedBy::Instruction, at);
    timeline.last_change(index, ChangedBy::Others, at);
  }
  timeline.next_step_of(timeline.thread_of(at), at);
  timeline.last_step_of(100, at);
  timeline.open_calls(at, timeline.thread_of(at), 100);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader in({data, size}, Endian::Little);
  Index index;
  index.segments.push_back(segment_of(in, 0));
  index.segments.push_back(segment_of(in, kSteps));
  const Timeline timeline(std::move(index));
  for (const uint64_t at : {uint64_t{0}, uint64_t{63}, kSteps, 2 * kSteps}) ask(timeline, at);
  timeline.threads();
  timeline.address_hits();
  timeline.block_hits();
  call_tree(timeline);
  const uint8_t pattern[] = {1, 2};
  size_t hits = 0;
  find_bytes(timeline, pattern, [&](const BytesHit&) { return ++hits < 1000; });
  return 0;
}
