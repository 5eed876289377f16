// vFile:close:<fd>: closes a file.
#include <unistd.h>

#include "agent/packets.h"
#include "agent/shared/host_files.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_vFile_close(Session& session, std::string_view body, Reply& reply) {
  auto number = parse_hex(body);
  const HostFile* const file = host_file(session, number, reply);
  if (file == nullptr) return;
  if (file->fd >= 0) ::close(file->fd);
  session.files.erase(static_cast<int>(*number));
  file_reply(reply, 0);
}

}  // namespace tracewell::agent
