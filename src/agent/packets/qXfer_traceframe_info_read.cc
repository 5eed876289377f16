// qXfer:traceframe-info:read: what the selected frame collected, as XML, so that GDB shows the rest
// as unavailable without asking for it. The document is taken when its beginning is read.
#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/xfer.h"

namespace tracewell::agent {
namespace {

std::string describe(const Frame& frame) {
  std::string out = "<traceframe-info>\n";
  for (const FrameBlock& block : frame.blocks) {
    if (block.kind == FrameBlock::Kind::Memory)
      out += fmt::format("<memory start=\"0x{:x}\" length=\"0x{:x}\"/>\n", block.address,
                         block.bytes.size());
    if (block.kind == FrameBlock::Kind::Variable)
      out += fmt::format("<tvar id=\"{}\"/>\n", block.number);
  }
  return out + "</traceframe-info>\n";
}

}  // namespace

void on_qXfer_traceframe_info_read(Session& session, std::string_view body, Reply& reply) {
  if (!session.selected_frame) return reply.error(1);
  const uint64_t number = *session.selected_frame;
  xfer_read(session, "traceframe-info", body, reply,
            [&](std::string_view annex) -> Result<std::string> {
              if (!annex.empty()) return {Errc::NotFound, "no such object"};
              TW_ASSIGN_OR_RETURN(const Frame frame, session.trace->frames().frame(number));
              return describe(frame);
            });
}

}  // namespace tracewell::agent
