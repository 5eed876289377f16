// vFile:setfs:<pid>: whose view of the file system the following packets mean; 0 = the server's. Of
// a process in another mount namespace, as those of containers are, only what we trace is served.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/host_files.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_vFile_setfs(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  auto pid = parse_hex(body);
  if (!pid) return file_reply(reply, -1, EINVAL);
  // Listed files are the server's, whatever number stands for the process of a recorded trace.
  const bool listed = session.options.files == SessionOptions::Files::Listed;
  session.files_of = 0;
  if (*pid == 0 || listed) return file_reply(reply, 0);
  struct stat theirs, ours;
  const std::string path = fmt::format("/proc/{}/ns/mnt", *pid);
  // A process that is gone, or that we may not look at, is taken for one of our own.
  const bool foreign = ::stat(path.c_str(), &theirs) == 0 &&
                       ::stat("/proc/self/ns/mnt", &ours) == 0 && theirs.st_ino != ours.st_ino;
  if (!foreign) return file_reply(reply, 0);
  const auto processes = session.target.processes();
  const auto number = static_cast<target::Pid>(*pid);
  if (std::ranges::find(processes, number, &target::ProcessInfo::pid) == processes.end())
    return file_reply(reply, -1, ENOSYS);
  session.files_of = number;
  file_reply(reply, 0);
}

}  // namespace tracewell::agent
