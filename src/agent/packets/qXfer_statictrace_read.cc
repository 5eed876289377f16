// qXfer:statictrace:read: what a static tracepoint marker had to say at the selected frame's hit:
// the value of `$_sdata`.
#include "agent/packets.h"
#include "agent/shared/xfer.h"
#include "base/bytes.h"

namespace tracewell::agent {

void on_qXfer_statictrace_read(Session& session, std::string_view body, Reply& reply) {
  if (!session.selected_frame) return reply.error(1);
  const uint64_t number = *session.selected_frame;
  xfer_read(session, "statictrace", body, reply,
            [&](std::string_view annex) -> Result<std::string> {
              if (!annex.empty()) return {Errc::NotFound, "no such object"};
              TW_ASSIGN_OR_RETURN(const Frame frame, session.trace->frames().frame(number));
              const FrameBlock* const found = find_block(frame, FrameBlock::Kind::Static);
              return std::string(found != nullptr ? as_text(found->bytes) : "");
            });
}

}  // namespace tracewell::agent
