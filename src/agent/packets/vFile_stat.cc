// vFile:stat:<hex path>: size, times and rights of a file.
#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/file_stat.h"
#include "agent/shared/host_files.h"

namespace tracewell::agent {

void on_vFile_stat(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  const std::string path = host_path(body, reply);
  const target::ListedFile* listed = nullptr;
  if (path.empty() || (only_listed(session, path, listed, reply) && listed == nullptr)) return;
  if (listed != nullptr) return file_reply(reply, encode_stat(listed_stat(*listed)));
  struct stat found;
  UniqueFd file = program_of_name(session, path);
  if (!file.valid() && session.files_of != 0) {
    auto theirs = open_theirs(session, path);
    if (!theirs) return file_reply(reply, -1, errno);
    file = *std::move(theirs);
  }
  const int status = file.valid() ? ::fstat(file.get(), &found) : ::stat(path.c_str(), &found);
  if (status != 0) return file_reply(reply, -1, errno);
  file_reply(reply, encode_stat(found));
}

}  // namespace tracewell::agent
