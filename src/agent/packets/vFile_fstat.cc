// vFile:fstat:<fd>: size, times and rights of an open file.
#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/file_stat.h"
#include "agent/shared/host_files.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_vFile_fstat(Session& session, std::string_view body, Reply& reply) {
  const HostFile* const file = host_file(session, parse_hex(body), reply);
  if (file == nullptr) return;
  if (file->listed) return file_reply(reply, encode_stat(listed_stat(*file->listed)));
  struct stat found;
  if (::fstat(file->fd, &found) != 0) return file_reply(reply, -1, errno);
  file_reply(reply, encode_stat(found));
}

}  // namespace tracewell::agent
