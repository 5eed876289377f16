// qXfer:threads:read: all threads as a document (manual, "Thread List Format").
#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/xfer.h"
#include "base/text/xml.h"

namespace tracewell::agent {
namespace {

Result<std::string> thread_list(Session& session) {
  std::string out = "<threads>\n";
  for (target::ThreadInfo thread : session.threads()) {
    session.target.describe(thread);
    out += fmt::format("<thread id=\"{}\"", session.thread_name(thread.pid, thread.tid));
    if (thread.core >= 0) out += fmt::format(" core=\"{}\"", thread.core);
    if (!thread.name.empty()) out += fmt::format(" name=\"{}\"", escape_xml(thread.name));
    out += "/>\n";
  }
  return out + "</threads>\n";
}

}  // namespace

void on_qXfer_threads_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "threads", body, reply,
            [&](std::string_view) { return thread_list(session); });
}

}  // namespace tracewell::agent
