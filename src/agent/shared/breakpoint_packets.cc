#include "agent/shared/breakpoint_packets.h"

namespace tracewell::agent {

void change_breakpoint(Session& session, char letter, std::string_view body, Reply& reply) {
  auto request = rsp::parse_breakpoint(letter + std::string(body));
  if (!request) {
    if (request.error().code != Errc::Unsupported) reply.error(1);
    return;
  }
  if (!session.target.breakpoints()->supports(breakpoint_kind(request->type))) return;
  auto pid = session.current_pid();
  // Of watchpoints the manual has neither conditions nor commands.
  using Type = rsp::BreakpointRequest::Type;
  const bool watch = request->type != Type::Software && request->type != Type::Hardware;
  const bool extras = !request->conditions.empty() || !request->commands.empty();
  if (!pid || (watch && extras) || request->kind > UINT32_MAX || session.selected_frame)
    return reply.error(1);
  if (const Status known = session.knows_program(*pid); !known) {
    // In all-stop mode GDB puts breakpoints into all its programs before one of them goes on, and
    // gives up where it cannot: it would never be told. What it put into the old program is gone.
    if (!session.non_stop.on) return reply.ok();
    return reply.error(known.error());
  }
  if (const Status status = session.set_breakpoint(*pid, *request); !status) {
    if (extras) session.notice(status.error().text());
    if (status.error().code == Errc::Limit) return reply.error(status.error());
    return reply.error(1);
  }
  reply.ok();
}

}  // namespace tracewell::agent
