// The kernel leads us to a mapped file by /proc/PID/map_files, but only who has CAP_SYS_ADMIN or
// CAP_CHECKPOINT_RESTORE. Others open it by the name that the kernel shows. No link belongs to that
// name, so none of the program's user is followed; and the file is compared with the mapping.
#include "target/linux/images/mapped_files.h"

#include <array>
#include <string_view>

#include <linux/magic.h>
#include <sys/vfs.h>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/text/text.h"

namespace tracewell::target::live {
namespace {

/// File systems where stat(2) shows another device than /proc/PID/maps does: that of a subvolume,
/// or of one layer of several.
bool has_devices_of_its_own(int fd) {
  constexpr std::array<uint32_t, 3> kSystems = {BTRFS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC,
                                                0xca451a4e};  // bcachefs
  struct statfs system = {};
  if (::fstatfs(fd, &system) != 0) return false;
  for (const uint32_t one : kSystems)
    if (static_cast<uint32_t>(system.f_type) == one) return true;
  return false;
}

/// On those the inode alone has to do. It is enough: the name is the kernel's, and nobody but its
/// folder's owner and root can have put another file there.
bool is_mapped_file(int fd, const Mapping& map) {
  const auto facts = facts_of(fd, map.path);
  return facts.ok() && facts->inode == map.inode &&
         (facts->device == map.device || has_devices_of_its_own(fd));
}

/// The one character that /proc/PID/maps writes otherwise than it is.
std::string with_line_ends(std::string_view path) {
  constexpr std::string_view kLineEnd = "\\012";
  std::string out;
  for (size_t at = 0; at < path.size();) {
    const bool is_end = path.substr(at).starts_with(kLineEnd);
    out += is_end ? '\n' : path[at];
    at += is_end ? kLineEnd.size() : 1;
  }
  return out;
}

/// The program may have been deleted; its file is there nevertheless.
Result<UniqueFd> open_if_program(Tid tid, const Mapping& map) {
  TW_ASSIGN_OR_RETURN(const UniqueFd held, hold_behind(fmt::format("/proc/{}/exe", tid)));
  if (!is_mapped_file(held.get(), map)) return {Errc::NotFound, "it is another file"};
  return open_held(held.get(), HeldUse::Read, map.path);
}

Result<UniqueFd> open_by_name(Tid tid, const Mapping& map) {
  const std::string name = with_line_ends(map.path);
  FoundRules rules;
  const auto root = Folder::named(fmt::format("/proc/{}/root", tid));
  // What a chroot hides is shown by its name outside of it.
  for (const bool in_root : {true, false}) {
    if (in_root && !root.ok()) continue;
    rules.in_root = in_root;
    rules.folder = in_root ? root->fd() : -1;
    auto file = open_found(name, rules);
    if (file.ok() && is_mapped_file(file->get(), map)) return file;
  }
  return {Errc::NotFound,
          fmt::format("{} is not the file that is mapped", printable(map.path))};
}

}  // namespace

Result<UniqueFd> open_program(Tid tid) {
  const std::string link = fmt::format("/proc/{}/exe", tid);
  TW_ASSIGN_OR_RETURN(const UniqueFd held, hold_behind(link));
  return open_held(held.get(), HeldUse::Read, link);
}

Result<UniqueFd> open_mapped(Tid tid, const Mapping& map) {
  if (map.inode == 0 || !map.path.starts_with('/'))
    return {Errc::NotFound, fmt::format("no file is mapped at 0x{:x}", map.start)};
  const std::string link = fmt::format("/proc/{}/map_files/{:x}-{:x}", tid, map.start, map.end);
  if (const auto held = hold_behind(link); held.ok())
    return open_held(held->get(), HeldUse::Read, map.path);
  if (auto program = open_if_program(tid, map); program.ok()) return program;
  return open_by_name(tid, map);
}

}  // namespace tracewell::target::live
