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
  auto usage = session.trace->usage(*number, *address);
  // GDB looks the location of a recorded tracepoint up for itself, and asks about where it would
  // put one today; an error would keep the whole of tstatus from its user.
  const bool recorded = session.trace->control() == nullptr;
  if (!usage && recorded) usage = TracepointDef::Usage{};
  if (!usage) return reply.error({Errc::NotFound, "there is no such tracepoint", {}});
  reply.text("V").text(rsp::hex_number(usage->hits)).text(":");
  reply.text(rsp::hex_number(usage->bytes));
}

}  // namespace tracewell::agent
