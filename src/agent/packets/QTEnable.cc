// QTEnable:<n>:<addr>: turns one location of a tracepoint on, also while a trace runs.
#include "agent/packets.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_QTEnable(Session& session, std::string_view body, Reply& reply) {
  rsp::TextReader in(body);
  const auto number = in.hex32();
  const auto address = in.skip(':') ? in.hex() : std::nullopt;
  if (!number || !address || !in.done())
    return reply.error({Errc::InvalidArgument, "expected <number>:<address>", in.offset()});
  reply.status(session.trace->control()->enable(*number, *address, true));
}

}  // namespace tracewell::agent
