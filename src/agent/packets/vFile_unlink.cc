// vFile:unlink:<hex path>: removes a file.
#include <unistd.h>

#include <cerrno>

#include "agent/host_files.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_vFile_unlink(Session& session, std::string_view body, Reply& reply) {
  if (!may_write(session, reply)) return;
  const std::string path = host_path(body, reply);
  if (path.empty()) return;
  file_reply(reply, ::unlink(path.c_str()), errno);
}

}  // namespace tracewell::agent
