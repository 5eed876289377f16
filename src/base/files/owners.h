// Whose is a file, a process or a connection, by the number that the kernel says? In a user
// namespace one number stands for all users of the machine who have none there (user_namespaces(7),
// "Unmapped user and group IDs"); it may be this user's, too. It tells nothing of whose it is.
#pragma once

#include <cstdint>

namespace tracewell {

struct FileFacts;  // base/files/file.h

constexpr uint32_t kUnmappedUser = 65534;  // /proc/sys/kernel/overflowuid, which nobody changes
/// Does it stand for some? True, too, where that cannot be known (there is no /proc).
bool some_users_are_unmapped();
/// Is it this user's, the effective one of this process?
bool is_own_user(uint32_t owner);
bool is_same_user(uint32_t one, uint32_t other);
/// May others put a file there, or exchange one? Not only what they made: also what this user made
/// in a folder of theirs, which they may take out of that, whatever mode it has.
bool others_may_put(const FileFacts& folder);

}  // namespace tracewell
