// QTSave:<hex name>: saves the trace as a file on the server's side (GDB's `tsave -r`), where the
// server's user allows it. A file that gets larger than the buffer is told of before it is written.
#include "agent/packets.h"
#include "agent/shared/saved_size.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_QTSave(Session& session, std::string_view body, Reply& reply) {
  const auto name = text_from_hex(body);
  if (!name)
    return reply.error({Errc::InvalidArgument, "the name of the file is not hexadecimal", {}});
  if (!session.options.save)
    return reply.error({Errc::Unsupported, "this server saves no traces", {}});
  if (const std::string size = saved_size_text(session); !size.empty())
    session.console(size + "\n");
  reply.status(
      session.options.save(*name, [&](uint64_t bytes) { return session.go_on(bytes); }));
}

}  // namespace tracewell::agent
