// vFile:stat:<hex path>: size, times and rights of a file.
#include <cerrno>

#include "agent/file_stat.h"
#include "agent/host_files.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_vFile_stat(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  const std::string path = host_path(body, reply);
  const target::ListedFile* listed = nullptr;
  if (path.empty() || (only_listed(session, path, listed, reply) && listed == nullptr)) return;
  if (listed != nullptr) return file_reply(reply, encode_stat(listed_stat(*listed)));
  struct stat found;
  if (session.files_of != 0) {
    const auto file = open_theirs(session, path);
    if (!file.ok() || ::fstat(file->get(), &found) != 0) return file_reply(reply, -1, errno);
    return file_reply(reply, encode_stat(found));
  }
  if (::stat(path.c_str(), &found) != 0) return file_reply(reply, -1, errno);
  file_reply(reply, encode_stat(found));
}

}  // namespace tracewell::agent
