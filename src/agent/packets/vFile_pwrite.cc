// vFile:pwrite:<fd>,<offset>,<binary>: the number of bytes written.
#include <unistd.h>

#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/host_files.h"
#include "rsp/framing.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_vFile_pwrite(Session& session, std::string_view body, Reply& reply) {
  if (!may_write(session, reply)) return;
  rsp::TextReader in(body);
  const HostFile* const file = host_file(session, in.hex_until(','), reply);
  if (file == nullptr) return;
  auto offset = in.hex_until(',');
  auto bytes = rsp::unescape(in.take_rest());
  if (!offset || *offset > INT64_MAX || !bytes) return file_reply(reply, -1, EINVAL);
  const auto written =
      ::pwrite(file->fd, bytes->data(), bytes->size(), static_cast<off_t>(*offset));
  file_reply(reply, written, errno);
}

}  // namespace tracewell::agent
