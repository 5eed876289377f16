// Whose a process is, and what it has mapped. Another user can make a look at the mappings of their
// process (/proc/PID/maps, cmdline, environ, mem: whatever takes the lock of its memory) wait for
// ever, where no signal ends it: by holding that lock in a page of a file system of their own
// (FUSE). /proc/PID/status and stat do not take it; but stat waits for a process that is in the
// middle of exec, as base/process/aside.h has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/file.h"

namespace tracewell::hooks {

struct ProcessUsers {
  uint32_t real = 0;
  uint32_t effective = 0;  // by whom a program chooses its control file (src/inproc/meeting.c)
};
/// `process` is its folder in /proc, or that of a thread. The owner of that folder is not asked: it
/// is root where a process may not be dumped. nullopt: it has ended, or only its parent does not
/// know that yet.
std::optional<ProcessUsers> users_of_process(const std::string& process);

/// Is it this user's, by both its users?
bool is_own_process(const std::string& process);

/// In clock ticks since the boot. 0: not known, as of a process that has ended, or does not let
/// the kernel tell.
uint64_t start_of_process(uint32_t pid);

/// What it has mapped, as /proc/PID/maps says. nullptr where it has ended, or is not this user's by
/// both its users: a set-uid program may still hold files of whoever started it.
std::shared_ptr<InputFile> own_maps(uint32_t pid);
/// Has it a file mapped whose path ends so, and which is that one if `inode` is not 0? A file that
/// was removed keeps its path. nullopt: that cannot be known, as where own_maps() says nothing, or
/// where the first thread of a process has ended before others.
std::optional<bool> has_mapped(uint32_t pid, std::string_view end, uint64_t inode = 0);
/// The environment that it began with, as /proc/PID/environ has it; likewise.
std::shared_ptr<InputFile> own_environment(uint32_t pid);

}  // namespace tracewell::hooks
