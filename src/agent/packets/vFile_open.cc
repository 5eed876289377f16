// vFile:open:<hex path>,<flags>,<mode>: a descriptor. Flags and mode have the protocol's own
// numbers (manual, "Open Flags", "mode_t Values"); the permission bits are the usual ones. Who
// reads a program that runs, by its name, gets what runs.
#include <cerrno>

#include "agent/packets.h"
#include "agent/shared/host_files.h"
#include "base/files/named.h"
#include "rsp/text.h"

namespace tracewell::agent {
namespace {

constexpr uint64_t kAccess = 3, kAppend = 0x8;
constexpr uint64_t kCreate = 0x200, kTruncate = 0x400, kExclusive = 0x800;

std::optional<NamedUse> use_of(uint64_t flags, uint64_t mode) {
  if ((flags & kAccess) == kAccess ||
      (flags & ~(kAccess | kAppend | kCreate | kTruncate | kExclusive)) != 0)
    return std::nullopt;
  NamedUse use;
  use.read = (flags & kAccess) != 1;
  use.write = (flags & kAccess) != 0;
  use.append = (flags & kAppend) != 0;
  use.create = (flags & kCreate) != 0;
  use.truncate = (flags & kTruncate) != 0;
  use.exclusive = (flags & kExclusive) != 0;
  // Opening a pipe or a terminal must not hang the server.
  use.wait = false;
  // GDB asks for whatever the program's list of libraries names, by itself.
  use.told = !use.write && !use.create && !use.truncate;
  use.mode = static_cast<uint32_t>(mode & 0777);
  return use;
}

}  // namespace

void on_vFile_open(Session& session, std::string_view body, Reply& reply) {
  if (!may_read(session, reply)) return;
  rsp::TextReader in(body);
  const std::string path = host_path(in.take_until(','), reply);
  const target::ListedFile* listed = nullptr;
  if (path.empty() || (only_listed(session, path, listed, reply) && listed == nullptr)) return;
  auto flags = in.hex_until(',');
  auto mode = in.hex();
  const auto use = flags && mode ? use_of(*flags, *mode) : std::nullopt;
  if (!use || !in.done()) return file_reply(reply, -1, EINVAL);
  if (*flags != 0 && !may_write(session, reply)) return;
  int number = 0;
  while (session.files.count(number) != 0) ++number;
  if (static_cast<size_t>(number) >= kOpenFilesMax) return file_reply(reply, -1, EMFILE);
  if (listed != nullptr) {
    session.files[number].listed = listed;
    return file_reply(reply, number);
  }
  const bool theirs = session.files_of != 0;
  if (theirs && !use->told) return file_reply(reply, -1, EACCES);
  UniqueFd file = use->told ? program_of_name(session, path) : UniqueFd();
  if (!file.valid()) {
    auto named = theirs ? open_theirs(session, path) : open_named_for(path, *use);
    if (!named) return file_reply(reply, -1, errno);
    file = *std::move(named);
  }
  session.files[number].fd = file.release();
  file_reply(reply, number);
}

}  // namespace tracewell::agent
