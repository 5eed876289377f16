// vFile:unlink:<hex path>: removes a file.
#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/host_files.h"
#include "base/files/named.h"

namespace tracewell::agent {

void on_vFile_unlink(Session& session, std::string_view body, Reply& reply) {
  if (!may_write(session, reply)) return;
  const std::string path = host_path(body, reply);
  if (path.empty()) return;
  if (session.files_of != 0) return file_reply(reply, -1, EACCES);
  if (remove_named(path)) file_reply(reply, 0);
  else file_reply(reply, -1, errno);
}

}  // namespace tracewell::agent
