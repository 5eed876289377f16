// QTFrame: selects a trace frame by number or by the next match. GDB leaves frame mode with the
// number ffffffff, where the manual has -1; a search that finds nothing leaves the selection alone.
#include "agent/packets.h"
#include "rsp/frame_select.h"

namespace tracewell::agent {

void on_QTFrame(Session& session, std::string_view body, Reply& reply) {
  const auto select = rsp::parse_frame_select(body);
  if (!select) return reply.error(select.error());
  using Kind = rsp::FrameSelect::Kind;
  if (select->kind == Kind::None) {
    session.selected_frame.reset();
    return reply.ok();
  }
  uint64_t from = 0;
  if (select->kind != Kind::Number && session.selected_frame) from = *session.selected_frame + 1;
  FrameStore& frames = session.trace->frames();
  const auto searched =
      frames.find(*select, from, [&](uint64_t bytes) { return session.go_on(bytes); });
  if (!searched) return reply.error(searched.error());
  const std::optional<uint64_t> found = *searched;
  if (!found || *found > UINT32_MAX) {
    reply.text(rsp::format_frame_reply(std::nullopt, 0));
    return;
  }
  const auto frame = frames.frame(*found);
  if (!frame) return reply.error(frame.error());
  session.selected_frame = *found;
  session.documents.erase("traceframe-info:");
  session.threads_changed();  // a recorded trace names its thread after the frame's
  reply.text(rsp::format_frame_reply(static_cast<uint32_t>(*found), frame->tracepoint));
}

}  // namespace tracewell::agent
