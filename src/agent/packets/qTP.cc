// qTP:<n>:<addr>: hits and bytes of one location. Hexadecimal, as GDB reads it; gdbserver writes
// decimal, which GDB then shows wrong.
#include "agent/packets.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_qTP(Session& session, std::string_view body, Reply& reply) {
  rsp::TextReader in(body);
  const auto number = in.hex32();
  const auto address = in.skip(':') ? in.hex() : std::nullopt;
  if (!number || !address || !in.done())
    return reply.error({Errc::InvalidArgument, "expected <number>:<address>", in.offset()});
  // The manual knows no other answer. GDB looks the location of a recorded tracepoint up for
  // itself, and asks about where it would put one today: an error would keep the whole of tstatus
  // from its user. What is not there was not hit.
  const auto usage =
      session.trace->usage(*number, *address).value_or(TracepointDef::Usage{});
  reply.text("V").text(rsp::hex_number(usage.hits)).text(":");
  reply.text(rsp::hex_number(usage.bytes));
}

}  // namespace tracewell::agent
