// QTDP: defines a tracepoint, or (behind a leading `-`) adds actions to one. While a run goes on,
// what stands in the tracepoint's way is console output (O) ahead of the reply.
#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/process_packets.h"
#include "rsp/qtdp.h"

namespace tracewell::agent {
namespace {

/// A debugger of several processes chooses one by Hg first. What stands at the address in another
/// one is something else, perhaps the middle of an instruction.
Status is_of_traced(const Session& session, target::Pid traced) {
  const auto pid = pid_to_trace(session);
  if (traced == 0 || pid == traced) return {};
  if (!pid)
    return {Errc::InvalidArgument,
            fmt::format("a trace of process {} runs, and the thread that was selected is gone: "
                        "select one first",
                        traced)};
  return {Errc::InvalidArgument,
          fmt::format("it is of process {}, and a trace of process {} runs", *pid, traced)};
}

Status define(TraceControl& control, std::string_view body) {
  if (rsp::is_qtdp_actions(body)) {
    TW_ASSIGN_OR_RETURN(const rsp::QtdpActions actions, rsp::parse_qtdp_actions(body));
    return control.add_actions(actions);
  }
  TW_ASSIGN_OR_RETURN(rsp::QtdpDefinition definition, rsp::parse_qtdp_definition(body));
  return control.define(std::move(definition));
}

}  // namespace

/// A tracepoint of which a packet is refused is forgotten, whatever the reason: it would not
/// collect what its user asked for.
void on_QTDP(Session& session, std::string_view body, Reply& reply) {
  session.knows_tracepoints = true;
  TraceControl& control = *session.trace->control();
  // The traced one may have a tracepoint of that number and address, which stays.
  if (Status status = is_of_traced(session, control.traced()); !status) return reply.status(status);
  const Status status = define(control, body);
  if (!status)
    if (const auto which = rsp::qtdp_identity(body)) control.forget(which->first, which->second);
  reply.status(status);
  session.console_remarks();
}

}  // namespace tracewell::agent
