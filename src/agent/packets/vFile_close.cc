// vFile:close:<fd>: closes a file.
#include <unistd.h>

#include "agent/host_files.h"
#include "agent/packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_vFile_close(Session& session, std::string_view body, Reply& reply) {
  auto number = parse_hex(body);
  const int fd = host_file(session, number, reply);
  if (fd < 0) return;
  ::close(fd);
  session.files.erase(static_cast<int>(*number));
  file_reply(reply, 0);
}

}  // namespace tracewell::agent
