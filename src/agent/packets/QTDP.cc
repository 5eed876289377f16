// QTDP: defines a tracepoint, or (behind a leading `-`) adds actions to one.
#include "agent/packets.h"
#include "rsp/qtdp.h"

namespace tracewell::agent {
namespace {

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
  const Status status = define(control, body);
  if (!status)
    if (const auto which = rsp::qtdp_identity(body)) control.forget(which->first, which->second);
  reply.status(status);
}

}  // namespace tracewell::agent
