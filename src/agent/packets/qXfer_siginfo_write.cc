// qXfer:siginfo:write::<offset>:<binary>: changes the signal that the current thread will get.
#include <algorithm>

#include "agent/packets.h"
#include "agent/shared/xfer.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_qXfer_siginfo_write(Session& session, std::string_view body, Reply& reply) {
  auto request = rsp::parse_qxfer("siginfo:write:" + std::string(body));
  auto thread = session.current_thread();
  if (!request || !request->annex.empty() || !thread) return reply.error(1);
  if (const Status known = session.knows_program(thread->pid); !known)
    return reply.error(known.error());
  auto bytes = session.target.signals()->read_siginfo(thread->tid);
  if (!bytes || request->offset > bytes->size()) return reply.error(1);
  const size_t size = std::min<uint64_t>(request->data.size(), bytes->size() - request->offset);
  std::copy_n(request->data.begin(), size,
              bytes->begin() + static_cast<ptrdiff_t>(request->offset));
  if (!session.target.signals()->write_siginfo(thread->tid, *bytes)) return reply.error(1);
  reply.text(rsp::hex_number(size));
}

}  // namespace tracewell::agent
