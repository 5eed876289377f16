// vAttach;<pid>: attaches to a running process, which stops.
#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_vAttach(Session& session, std::string_view body, Reply& reply) {
  const auto pid = parse_pid(body);
  if (!pid) return reply.error(1);
  auto event = session.target.process_control()->attach(*pid);
  session.threads_changed();
  if (!event) {  // GDB shows no reason
    session.notice(event.error().text());
    return reply.error(event.error());
  }
  session.notice(fmt::format("Attached; pid = {}", event->pid));
  session.general_thread = {event->pid, event->tid};
  session.documents.clear();
  if (session.non_stop.on) return reply.ok();  // it runs on, and is told of when it stops
  session.last_stop = *event;
  reply.text(session.stop_reply(*event));
}

}  // namespace tracewell::agent
