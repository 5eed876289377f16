#include "base/files/kernel_files.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell {
namespace {

/// The file systems of the kernel's own, whose "regular files" are none: they have no size, no end
/// or one that is far, say a thing once to whoever is first, or act when they are read. The numbers
/// of those that linux/magic.h does not know are in the kernel's source alone.
constexpr decltype(statfs::f_type) kKernelSystems[] = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, DEBUGFS_MAGIC, CGROUP_SUPER_MAGIC,
    CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, BPF_FS_MAGIC,
    PSTOREFS_MAGIC, EFIVARFS_MAGIC, DEVPTS_SUPER_MAGIC, BINFMTFS_MAGIC, NSFS_MAGIC,
    ANON_INODE_FS_MAGIC, RDTGROUP_SUPER_MAGIC, XENFS_SUPER_MAGIC, OPENPROM_SUPER_MAGIC,
    0x62656570,  // configfs
    0x5a3c69f0,  // apparmorfs
    0x65735543,  // fusectl
    0x6e667364,  // nfsd
    0x67596969,  // rpc_pipefs
    0x19800202,  // mqueue
};

}  // namespace

Result<bool> is_of_kernel(int fd, std::string_view what) {
  struct statfs system = {};
  if (::fstatfs(fd, &system) != 0)
    return errno_error(fmt::format("cannot look at {}", printable(what)));
  return std::ranges::find(kKernelSystems, system.f_type) != std::end(kKernelSystems);
}

bool has_kernels_name(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/");
}

}  // namespace tracewell
