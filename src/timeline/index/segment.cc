#include "timeline/index/segment.h"

namespace tracewell::timeline {
namespace {

machine::FlowInstruction unpack_flow(uint8_t bits) {
  return {static_cast<uint8_t>(bits >> 3 & 15), static_cast<machine::Flow>(bits & 3)};
}

Stream rest_of(const Stream& stream, size_t from) {
  return {stream.first, stream.bytes.subspan(from), stream.sums};
}

}  // namespace

uint8_t pack_flow(const machine::FlowInstruction& flow) {
  return static_cast<uint8_t>(static_cast<uint8_t>(flow.flow) | flow.length << 3);
}

std::optional<PlacePart> read_place(const Stream& stream) {
  if (stream.bytes.empty()) return std::nullopt;
  const uint8_t head = stream.bytes[0];
  return PlacePart{{unpack_flow(head), (head & 4) != 0}, Postings(rest_of(stream, 1))};
}

std::optional<ThreadPart> read_thread(const Stream& stream) {
  Cursor in(stream.bytes);
  ThreadPart part;
  if (const uint8_t head = in.byte(); head != 0) {
    ThreadEnds ends;
    ends.lost_before = (head & 2) != 0;
    ends.lost_behind = (head & 4) != 0;
    ends.first_pc = in.varint();
    ends.last_pc = ends.first_pc + unfolded(in.varint());
    ends.last_flow = unpack_flow(in.byte());
    part.ends = ends;
  }
  if (in.bad()) return std::nullopt;
  part.steps = Postings(rest_of(stream, stream.bytes.size() - in.left()));
  return part;
}

}  // namespace tracewell::timeline
