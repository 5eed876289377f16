// qTStatus: does a trace run, why did it end, and how full is the buffer? GDB asks before each
// resume.
#include <algorithm>
#include <string>
#include <utility>

#include "agent/packets.h"
#include "agent/shared/saved_size.h"
#include "rsp/for_gdb.h"
#include "rsp/status.h"

namespace tracewell::agent {

void on_qTStatus(Session& session, std::string_view, Reply& reply) {
  RunStatus status = rsp::for_gdb(session.trace->status());
  // GDB keeps both in an int, and would show a larger one as negative.
  for (auto* bytes : {&status.buffer_free, &status.buffer_size})
    if (*bytes) *bytes = std::min<uint64_t>(**bytes, INT32_MAX);
  std::string text = rsp::format_status(status);
  // `tstatus` shows notes, and has nothing else to say it in.
  if (const std::string size = saved_size_text(session); !size.empty()) {
    status.notes = status.notes.value_or("").empty() ? size : *status.notes + "; " + size;
    std::string longer = rsp::format_status(status);
    if (longer.size() <= rsp::kStatusLineMax) text = std::move(longer);
  }
  reply.text(text);
}

}  // namespace tracewell::agent
