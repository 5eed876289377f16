#include "agent/shared/host_files.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/text/hex.h"
#include "rsp/framing.h"
#include "rsp/text.h"

namespace tracewell::agent {
namespace {

/// The protocol's numbers (manual, "Errno Values") are mostly Linux's own.
int protocol_errno(int host) {
  switch (host) {
    case EPERM: case ENOENT: case EINTR: case EIO: case EBADF: case EACCES: case EFAULT: case EBUSY:
    case EEXIST: case ENODEV: case ENOTDIR: case EISDIR: case EINVAL: case ENFILE: case EMFILE:
    case EFBIG: case ENOSPC: case ESPIPE: case EROFS:
      return host;
    case ENAMETOOLONG: return 91;
    case ENOSYS: return 88;
    default: return 9999;
  }
}

}  // namespace

void file_reply(Reply& reply, int64_t result, int host_errno) {
  if (result >= 0) reply.text("F").text(rsp::hex_number(static_cast<uint64_t>(result)));
  else reply.text("F-1,").text(rsp::hex_number(static_cast<uint64_t>(protocol_errno(host_errno))));
}

void file_reply(Reply& reply, Bytes bytes) {
  constexpr size_t kHeadMax = 16;
  size_t used = 0;
  const std::string data = rsp::escape_prefix(bytes, Session::kPacketBytesMax - kHeadMax, used);
  reply.text("F").text(rsp::hex_number(used)).text(";").text(data);
}

bool may_read(const Session& session, Reply&) {
  // The empty reply of an unknown packet: GDB then opens the files that it needs by itself.
  return session.options.files != SessionOptions::Files::None;
}

bool may_write(const Session& session, Reply& reply) {
  if (!may_read(session, reply)) return false;
  if (session.options.files == SessionOptions::Files::ReadWrite) return true;
  file_reply(reply, -1, EACCES);
  return false;
}

bool only_listed(const Session& session, const std::string& path, const target::ListedFile*& file,
                 Reply& reply) {
  file = nullptr;
  if (session.options.files != SessionOptions::Files::Listed) return false;
  for (const target::ListedFile& listed : session.options.listed_files)
    if (listed.path == path) file = &listed;
  if (file == nullptr) file_reply(reply, -1, ENOENT);
  return true;
}

UniqueFd program_of_name(const Session& session, const std::string& path) {
  target::ProcessFacts* const facts = session.target.facts();
  if (facts == nullptr) return {};
  const bool its_view = session.files_of != 0;
  std::vector<target::Pid> pids;  // the one that is looked at first
  if (its_view) {
    pids.push_back(session.files_of);
  } else {
    if (const auto current = session.current_pid()) pids.push_back(*current);
    for (const auto& process : session.target.processes()) pids.push_back(process.pid);
  }
  for (const target::Pid pid : pids)
    if (auto fd = facts->open_exec_file(pid, path, its_view)) return *std::move(fd);
  return {};
}

struct stat listed_stat(const target::ListedFile& file) {
  constexpr uint64_t kBlock = 512;
  struct stat out = {};
  out.st_dev = file.facts.device;
  out.st_ino = file.facts.inode;
  out.st_mode = S_IFREG | file.facts.mode;
  out.st_nlink = file.facts.links;
  out.st_uid = file.facts.owner;
  out.st_gid = file.facts.group;
  out.st_size = static_cast<off_t>(file.bytes.size());
  out.st_blksize = 4096;
  out.st_blocks = static_cast<blkcnt_t>((file.bytes.size() + kBlock - 1) / kBlock);
  out.st_atime = out.st_mtime = out.st_ctime = file.facts.changed_ns / 1'000'000'000;
  return out;
}

Result<UniqueFd> open_theirs(const Session& session, const std::string& path) {
  const auto processes = session.target.processes();
  // While it is traced, the number is nobody else's.
  if (std::ranges::find(processes, session.files_of, &target::ProcessInfo::pid) ==
      processes.end()) {
    errno = ESRCH;
    return {Errc::NotFound, "the process is gone"};
  }
  const std::string place = fmt::format("/proc/{}", session.files_of);
  const auto root = Folder::named(place + "/root");
  FoundRules rules;
  rules.in_root = true;
  if (const auto facts = facts_at(place)) rules.also = facts->owner;
  Result<UniqueFd> file = Error{Errc::Io, "its root cannot be opened", {}};
  if (root.ok()) {
    rules.folder = root->fd();
    file = open_found(path, rules);
  }
  if (!file.ok()) {
    const Errc code = file.error().code;
    errno = code == Errc::NotFound ? ENOENT : code == Errc::InvalidArgument ? EACCES : EIO;
  }
  return file;
}

HostFile* host_file(Session& session, std::optional<uint64_t> number, Reply& reply) {
  auto found = number && *number < kOpenFilesMax ? session.files.find(static_cast<int>(*number))
                                                 : session.files.end();
  if (found != session.files.end()) return &found->second;
  file_reply(reply, -1, EBADF);
  return nullptr;
}

std::string host_path(std::string_view hex, Reply& reply) {
  auto path = text_from_hex(hex);
  if (path && !path->empty() && path->find('\0') == std::string::npos) return *std::move(path);
  file_reply(reply, -1, EINVAL);
  return "";
}

}  // namespace tracewell::agent
