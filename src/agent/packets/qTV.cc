// qTV:<n>: a trace state variable: as the selected frame has it (the last value, where it was
// collected more than once), else as it is now. `U` = there is no value.
#include "agent/packets.h"
#include "rsp/text.h"

namespace tracewell::agent {
namespace {

std::optional<int64_t> collected(const Frame& frame, uint32_t number) {
  std::optional<int64_t> value;
  for (const FrameBlock& block : frame.blocks)
    if (block.kind == FrameBlock::Kind::Variable && static_cast<uint32_t>(block.number) == number)
      value = block.value;
  return value;
}

}  // namespace

void on_qTV(Session& session, std::string_view body, Reply& reply) {
  rsp::TextReader in(body);
  const auto number = in.hex32();
  if (!number || !in.done())
    return reply.error({Errc::InvalidArgument, "expected the number of a variable", in.offset()});
  std::optional<int64_t> value;
  if (session.selected_frame) {
    const auto frame = session.trace->frames().frame(*session.selected_frame);
    if (!frame) return reply.error(frame.error());
    value = collected(*frame, *number);
  } else {
    value = session.trace->variable(*number);
  }
  if (!value) reply.text("U");
  else reply.text("V").text(rsp::hex_number(static_cast<uint64_t>(*value)));
}

}  // namespace tracewell::agent
