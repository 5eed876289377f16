// A lock that tells others that a file is in use, and that the kernel takes back with its owner's
// life: a Linux open file description lock over the whole file. (A POSIX record lock would go as
// soon as this process closes any other descriptor of the file.)
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace tracewell {

/// `fd` is open for writing; the lock is held until it, and all its duplicates, are closed. Io when
/// somebody else has it.
Status lock_file(int fd);

/// The same, but waits until nobody else has it, for `most`: anybody who may read the file can lock
/// it.
Status wait_and_lock_file(int fd, std::chrono::milliseconds most);

/// The same of one byte, which need not be there: a file can have many such locks.
Status lock_byte(int fd, uint64_t at);
Status wait_and_lock_byte(int fd, uint64_t at);
/// Does anybody hold it who has opened the file elsewhere than `fd` was?
bool byte_is_locked(int fd, uint64_t at);

/// Does anybody hold it who has opened the file elsewhere than `fd` was? `fd` may be open for
/// reading. Locks that others have for reading are none of these.
bool file_is_locked(int fd);

/// Has any process the file open for writing, or mapped so? `fd` is open for reading. nullopt where
/// it cannot be told: the file belongs to somebody else, and it is not root who asks, or its file
/// system does not say.
std::optional<bool> has_writer(int fd);

}  // namespace tracewell
