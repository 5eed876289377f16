// qTStatus: does a trace run, why did it end, and how full is the buffer? GDB asks before each
// resume.
#include <algorithm>

#include "agent/packets.h"
#include "agent/saved_size.h"
#include "rsp/for_gdb.h"
#include "rsp/status.h"

namespace tracewell::agent {

void on_qTStatus(Session& session, std::string_view, Reply& reply) {
  RunStatus status = rsp::for_gdb(session.trace->status());
  // GDB keeps both in an int, and would show a larger one as negative.
  for (auto* bytes : {&status.buffer_free, &status.buffer_size})
    if (*bytes) *bytes = std::min<uint64_t>(**bytes, INT32_MAX);
  // `tstatus` shows notes, and has nothing else to say it in.
  if (const std::string size = saved_size_text(session); !size.empty())
    status.notes = status.notes.value_or("").empty() ? size : *status.notes + "; " + size;
  reply.text(rsp::format_status(status));
}

}  // namespace tracewell::agent
