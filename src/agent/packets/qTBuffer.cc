// qTBuffer:<offset>,<length>: bytes of the trace buffer as a trace file has them. `l` at or behind
// the end: a circular buffer may have shrunk while it is being read. GDB prints what is said before
// the answer: how much it will be, where the buffer's size does not let one expect it.
#include <algorithm>

#include "agent/packets.h"
#include "agent/shared/saved_size.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_qTBuffer(Session& session, std::string_view body, Reply& reply) {
  rsp::TextReader in(body);
  const auto offset = in.hex_until(',');
  const auto length = in.hex();
  if (!offset || !length || *length == 0 || !in.done())
    return reply.error({Errc::InvalidArgument, "expected <offset>,<length>", in.offset()});
  FrameStore& frames = session.trace->frames();
  if (*offset >= frames.stream_bytes()) {
    reply.text("l");
    return;
  }
  if (const std::string size = *offset == 0 ? saved_size_text(session) : ""; !size.empty())
    session.console(size + "\n");
  const size_t most = Session::kPacketBytesMax / 2;  // as hexadecimal
  const auto bytes = frames.read_stream(*offset, std::min<uint64_t>(*length, most));
  if (!bytes) return reply.error(bytes.error());
  reply.hex(*bytes);
}

}  // namespace tracewell::agent
