// qSupported[:name+;name=value;…]: what each side can do.
#include <fmt/format.h>

#include "agent/packets.h"
#include "base/text/text.h"

namespace tracewell::agent {
namespace {

void learn(ClientFeatures& client, std::string_view feature) {
  const std::pair<std::string_view, bool*> known[] = {
      {"multiprocess+", &client.multiprocess}, {"swbreak+", &client.swbreak},
      {"hwbreak+", &client.hwbreak},           {"fork-events+", &client.fork_events},
      {"vfork-events+", &client.vfork_events}, {"exec-events+", &client.exec_events},
      {"no-resumed+", &client.no_resumed},
  };
  for (auto [name, flag] : known)
    if (feature == name) *flag = true;
}

}  // namespace

void on_qSupported(Session& session, std::string_view body, Reply& reply) {
  session.client = {};
  if (body.starts_with(':')) body.remove_prefix(1);
  for (std::string_view feature : split(body, ';')) learn(session.client, feature);
  const ClientFeatures& client = session.client;
  if (auto* processes = session.target.process_control())
    processes->report_forks(client.fork_events, client.vfork_events, true);

  reply.text(fmt::format("PacketSize={:x}", Session::kPacketBytesMax));
  for (const PacketEntry& entry : packet_table())
    if (!entry.features.empty() && available(session, entry.needs) &&
        !session.disabled(entry.name))
      reply.text(";").text(entry.features);
  // What belongs to no packet of its own.
  reply.text(";multiprocess+;no-resumed+");
  if (session.target.trace_sites() && session.target.trace_sites()->fast())
    reply.text(";FastTracepoints+");
  if (session.target.non_stop() && !session.disabled("QNonStop")) reply.text(";QNonStop+");
  if (session.target.breakpoints()) reply.text(";swbreak+;hwbreak+");
  if (session.target.process_control()) reply.text(";fork-events+;vfork-events+;exec-events+");
}

}  // namespace tracewell::agent
