// qTfV: the first trace state variable; qTsV has the others, `l` ends them. The newest comes first,
// as from gdbserver: GDB turns the list round and then makes its own variables in that order.
#include <algorithm>

#include "agent/packets.h"
#include "agent/shared/upload.h"
#include "rsp/definitions.h"
#include "rsp/for_gdb.h"

namespace tracewell::agent {

void on_qTfV(Session& session, std::string_view, Reply& reply) {
  std::vector<std::string> pieces;
  for (const VariableDef& variable : session.trace->variables())
    pieces.push_back(rsp::format_variable(rsp::for_gdb(variable)));
  std::reverse(pieces.begin(), pieces.end());
  begin_upload(session, "qTsV", std::move(pieces));
  reply.text(next_upload(session, "qTsV"));
}

}  // namespace tracewell::agent
