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

void on_QTDP(Session& session, std::string_view body, Reply& reply) {
  reply.status(define(*session.trace->control(), body));
}

}  // namespace tracewell::agent
