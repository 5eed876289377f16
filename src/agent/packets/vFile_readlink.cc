// vFile:readlink:<hex path>: where a symbolic link leads.
#include <limits.h>
#include <unistd.h>

#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/host_files.h"

namespace tracewell::agent {

void on_vFile_readlink(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  const std::string path = host_path(body, reply);
  const target::ListedFile* listed = nullptr;
  if (path.empty() || (only_listed(session, path, listed, reply) && listed == nullptr)) return;
  // It is no link; those of others are followed by the rules for them, and not told.
  if (listed != nullptr || session.files_of != 0) return file_reply(reply, -1, EINVAL);
  std::vector<uint8_t> to(PATH_MAX);
  const ssize_t size = ::readlink(path.c_str(), reinterpret_cast<char*>(to.data()), to.size());
  if (size < 0) return file_reply(reply, -1, errno);
  file_reply(reply, Bytes(to).first(static_cast<size_t>(size)));
}

}  // namespace tracewell::agent
