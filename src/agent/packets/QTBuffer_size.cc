// QTBuffer:size:<hex bytes, or -1 for our choice>: empties the trace buffer.
#include "agent/packets.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_QTBuffer_size(Session& session, std::string_view body, Reply& reply) {
  const auto size = parse_hex(body);
  if (!size && body != "-1")
    return reply.error({Errc::InvalidArgument, "expected a size in hexadecimal, or -1", {}});
  TraceControl& control = *session.trace->control();
  FrameStore& frames = session.trace->frames();
  if (!frames.settled()) return reply.later();
  Status status = control.empty_for(size);
  if (status) session.selected_frame.reset();
  if (!frames.settled()) return reply.later();  // and then it is empty
  if (status) status = control.set_buffer_size(size);
  reply.status(status);
}

}  // namespace tracewell::agent
