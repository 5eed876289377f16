// vFile:pread:<fd>,<count>,<offset>: a part of a file; fewer bytes than asked for are normal.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/host_files.h"
#include "rsp/text.h"

namespace tracewell::agent {
namespace {

// GDB asks for a packet full wherever it looks, and takes 0.1 us for each byte that it gets: of a
// large one, most is waste where it wants a few bytes. Who reads on gets twice as much each time.
constexpr uint64_t kFirstPiece = 0x4000;

uint64_t next_piece(HostFile& file, uint64_t offset) {
  const bool reads_on = offset > file.read_at && offset - file.read_at <= file.piece;
  file.piece = reads_on ? std::min<uint64_t>(2 * file.piece, Session::kPacketBytesMax)
                        : kFirstPiece;
  file.read_at = offset;
  return file.piece;
}

}  // namespace

void on_vFile_pread(Session& session, std::string_view body, Reply& reply) {
  rsp::TextReader in(body);
  HostFile* const file = host_file(session, in.hex_until(','), reply);
  if (file == nullptr) return;
  auto count = in.hex_until(',');
  auto offset = count ? in.hex() : std::nullopt;
  if (!offset || !in.done() || *offset > INT64_MAX) return file_reply(reply, -1, EINVAL);
  count = std::min(*count, next_piece(*file, *offset));
  if (file->listed != nullptr) {
    const Bytes all = file->listed->bytes;
    const Bytes rest = all.subspan(std::min<uint64_t>(*offset, all.size()));
    return file_reply(reply, rest.first(std::min<uint64_t>(*count, rest.size())));
  }
  std::vector<uint8_t> bytes(*count);
  const ssize_t got = ::pread(file->fd, bytes.data(), bytes.size(), static_cast<off_t>(*offset));
  if (got < 0) return file_reply(reply, -1, errno);
  file_reply(reply, Bytes(bytes).first(static_cast<size_t>(got)));
}

}  // namespace tracewell::agent
