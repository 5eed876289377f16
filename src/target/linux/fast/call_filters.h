// May code of ours in a program make system calls there, though the program filters them
// (seccomp(2))? Filters are read once, while all threads stand still. Later they are known by how
// many a thread has, which /proc tells: a thread begins with those of the thread that made it, and
// none can be taken away from it again. So where each thread had the same number, and all of them
// were looked at, a thread with that number has none but those.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "target/fast_sites.h"
#include "target/linux/memory/address_space.h"

namespace tracewell::target::live {

class ThreadTable;
struct Process;

/// How many a thread has, by its /proc/TID/status. nullopt: they are not what decides about its
/// calls, or not alone; or nobody can tell (before Linux 5.9).
std::optional<uint32_t> filters_of(const std::string& status);

/// Has the thread another number of them than all before, of which the first one was told `each`?
/// One that runs no code of the program any more counts for nothing.
bool has_other_filters(Tid tid, const std::string& status, std::optional<uint32_t>& each);

/// All threads of this memory stand still. FiltersCalls where one of these calls may be forbidden
/// to one of them; else `space.allowed_filters` is how many filters each of them has.
Status examine_filters(const ThreadTable& threads, AddressSpace& space,
                       std::span<const FastSites::Call> calls);

/// While threads run: has this one others by now?
bool has_new_filters(Tid tid, const std::string& status, const AddressSpace& space);
/// The same of the processes that share this one's memory: of one thread of each, which is another
/// one at each `turn` of turns that follow each other.
bool others_have_new_filters(const ThreadTable& threads, const Process& process, size_t turn);

}  // namespace tracewell::target::live
