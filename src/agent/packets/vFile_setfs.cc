// vFile:setfs:<pid>: whose view of the file system the following packets mean; 0 = the server's. A
// process in another mount namespace than ours cannot be served.
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "agent/host_files.h"
#include "agent/packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_vFile_setfs(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  auto pid = parse_hex(body);
  if (!pid) return file_reply(reply, -1, EINVAL);
  // Listed files are the server's, whatever number stands for the process of a recorded trace.
  const bool listed = session.options.files == SessionOptions::Files::Listed;
  if (*pid == 0 || listed) return file_reply(reply, 0);
  struct stat theirs, ours;
  const std::string path = fmt::format("/proc/{}/ns/mnt", *pid);
  // A process that is gone, or that we may not look at, is taken for one of our own.
  const bool foreign = ::stat(path.c_str(), &theirs) == 0 &&
                       ::stat("/proc/self/ns/mnt", &ours) == 0 && theirs.st_ino != ours.st_ino;
  file_reply(reply, foreign ? -1 : 0, ENOSYS);
}

}  // namespace tracewell::agent
