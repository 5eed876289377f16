#include "agent/breakpoint_packets.h"

namespace tracewell::agent {

void change_breakpoint(Session& session, char letter, std::string_view body, Reply& reply) {
  auto request = rsp::parse_breakpoint(letter + std::string(body));
  if (!request) {
    if (request.error().code != Errc::Unsupported) reply.error(1);
    return;
  }
  if (!session.target.breakpoints()->supports(breakpoint_kind(request->type))) return;
  auto pid = session.current_pid();
  // Conditions and commands are not offered, and dropping them would stop the program too often.
  const bool extras = !request->conditions.empty() || !request->commands.empty();
  if (!pid || extras || request->kind > UINT32_MAX || session.selected_frame) return reply.error(1);
  if (session.set_breakpoint(*pid, *request)) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
