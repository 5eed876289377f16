// Control groups (cgroups(7)) of a process, and what they say, in either version. Of those above
// the process's own the kernel shows what the reader's namespaces have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "target/linux/kernel/ptrace.h"
#include "target/memory_room.h"

namespace tracewell::target::live {

/// Where the hierarchies are mounted, as on all systems.
inline constexpr std::string_view kGroupsMounted = "/sys/fs/cgroup";

/// Folders of a process's group and of those above it, from its own on.
struct GroupFolders {
  std::vector<std::string> first;   // of version 1, with one controller
  std::vector<std::string> second;  // of version 2
};

/// `text` is that of /proc/PID/cgroup.
GroupFolders group_folders(std::string_view text, std::string_view controller,
                           std::string_view mounted = kGroupsMounted);

/// The first line of a file there; "" if there is none.
std::string group_says(const std::string& folder, std::string_view file);

/// What is left of the memory that groups may use: the least of all. Memory of files that the
/// kernel can drop counts as left.
MemoryRoom memory_room(std::string_view text, std::string_view mounted = kGroupsMounted);

/// What is left to a process by its groups, and by the machine.
MemoryRoom memory_room_of(Pid pid);

}  // namespace tracewell::target::live
