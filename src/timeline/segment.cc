#include "timeline/segment.h"

namespace tracewell::timeline {
namespace {

std::optional<machine::FlowInstruction> read_flow(uint8_t bits, uint8_t length) {
  if (length > 15) return std::nullopt;
  return machine::FlowInstruction{length, static_cast<machine::Flow>(bits & 3)};
}

}  // namespace

std::optional<Place> read_place(Bytes stream) {
  if (stream.size() < PlaceHead::kBytes) return std::nullopt;
  const auto flow = read_flow(stream[0], stream[1]);
  if (!flow) return std::nullopt;
  return Place{{*flow, (stream[0] & 4) != 0}, Postings(stream.subspan(PlaceHead::kBytes))};
}

std::optional<ThreadPart> read_thread(Bytes stream) {
  Cursor in(stream);
  ThreadPart part;
  part.steps = Postings(in.take(in.varint()));
  ThreadEnds& ends = part.ends;
  ends.first_step = in.uint(4);
  ends.last_step = in.uint(4);
  ends.first_pc = in.uint(8);
  ends.last_pc = in.uint(8);
  const uint8_t bits = in.byte();
  const auto flow = read_flow(bits, in.byte());
  ends.registers = in.take(in.varint());
  ends.valid = in.take(in.varint());
  if (in.bad() || !flow) return std::nullopt;
  ends.last_flow = *flow;
  return part;
}

}  // namespace tracewell::timeline
