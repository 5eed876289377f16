// qsThreadInfo: the next part of the list of all threads: m<id>,<id>… or l.
#include "agent/packets.h"

namespace tracewell::agent {
namespace {
constexpr size_t kThreadsPerReply = 1000;
}

void on_qsThreadInfo(Session& session, std::string_view, Reply& reply) {
  const auto& threads = session.threads();
  if (session.thread_list_at >= threads.size()) {
    reply.text("l");
    return;
  }
  char separator = 'm';
  for (size_t i = 0; i < kThreadsPerReply && session.thread_list_at < threads.size(); ++i) {
    const target::ThreadInfo& thread = threads[session.thread_list_at++];
    reply.text({&separator, 1}).text(session.thread_name(thread.pid, thread.tid));
    separator = ',';
  }
}

}  // namespace tracewell::agent
