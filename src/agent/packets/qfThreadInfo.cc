// qfThreadInfo: the first part of the list of all threads.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qfThreadInfo(Session& session, std::string_view, Reply& reply) {
  session.thread_list_at = 0;
  on_qsThreadInfo(session, "", reply);
}

}  // namespace tracewell::agent
