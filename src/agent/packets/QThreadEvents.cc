// QThreadEvents:1, QThreadEvents:0: is the debugger told of threads that begin (`create:`) and end
// (`w`)? GDB asks for it while it must not lose sight of any.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QThreadEvents(Session& session, std::string_view body, Reply& reply) {
  if (body != "0" && body != "1") return reply.error(1);
  session.target.process_control()->report_threads(body == "1");
  session.non_stop.to_sample.clear();
  reply.ok();
}

}  // namespace tracewell::agent
