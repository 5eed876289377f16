// vFile:open:<hex path>,<flags>,<mode>: a descriptor. Flags and mode have the protocol's own
// numbers (manual, "Open Flags", "mode_t Values"); the permission bits are the usual ones.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "agent/host_files.h"
#include "agent/packets.h"
#include "rsp/text.h"

namespace tracewell::agent {
namespace {

constexpr uint64_t kAccess = 3, kAppend = 0x8;
constexpr uint64_t kCreate = 0x200, kTruncate = 0x400, kExclusive = 0x800;

std::optional<int> host_flags(uint64_t flags) {
  if ((flags & kAccess) == kAccess ||
      (flags & ~(kAccess | kAppend | kCreate | kTruncate | kExclusive)) != 0)
    return std::nullopt;
  int host = static_cast<int>(flags & kAccess);  // read 0, write 1, both 2, as here
  if ((flags & kAppend) != 0) host |= O_APPEND;
  if ((flags & kCreate) != 0) host |= O_CREAT;
  if ((flags & kTruncate) != 0) host |= O_TRUNC;
  if ((flags & kExclusive) != 0) host |= O_EXCL;
  // Opening a pipe or a terminal must not hang the server.
  return host | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
}

}  // namespace

void on_vFile_open(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  rsp::TextReader in(body);
  const std::string path = host_path(in.take_until(','), reply);
  if (path.empty() || !may_open(session, path, reply)) return;
  auto flags = in.hex_until(',');
  auto mode = in.hex();
  auto host = flags ? host_flags(*flags) : std::nullopt;
  if (!host || !mode || !in.done()) return file_reply(reply, -1, EINVAL);
  if (*host != (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) && !may_write(session, reply)) return;
  int number = 0;
  while (session.files.count(number) != 0) ++number;
  if (static_cast<size_t>(number) >= kOpenFilesMax) return file_reply(reply, -1, EMFILE);
  const int fd = ::open(path.c_str(), *host, static_cast<mode_t>(*mode & 0777));
  if (fd < 0) return file_reply(reply, -1, errno);
  session.files[number] = fd;
  file_reply(reply, number);
}

}  // namespace tracewell::agent
