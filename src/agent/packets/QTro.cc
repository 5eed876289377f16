// QTro: memory that cannot change, so that a frame need not collect it. `<start>,<end>` pairs, the
// end exclusive; GDB ignores the reply.
#include "agent/packets.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_QTro(Session& session, std::string_view body, Reply& reply) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  rsp::TextReader in(body);
  do {
    const auto start = in.hex_until(',');
    const auto end = in.hex();
    if (!start || !end || *end < *start)
      return reply.error({Errc::InvalidArgument, "bad range of read-only memory", in.offset()});
    ranges.emplace_back(*start, *end);
  } while (in.skip(':'));
  if (!in.done())
    return reply.error({Errc::InvalidArgument, "bad range of read-only memory", in.offset()});
  session.trace->control()->set_read_only(std::move(ranges));
  reply.ok();
}

}  // namespace tracewell::agent
