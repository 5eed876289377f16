// Memory that a process and we both have: a memfd. The process makes it, since it may not open one
// of ours, and so it is the process's to lie about: another one that shares its descriptors can put
// any file in its place at any moment, where one has begun since we looked.
#pragma once

#include <cstdint>

#include "base/files/file.h"
#include "base/result.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

/// Has the other process the thread's memory? false also where nobody may know, and where it is in
/// the middle of exec: nothing is shared then.
bool shares_memory(Tid tid, Tid other);

/// Has it another memory, for certain? false also where that cannot be told: nobody may know, the
/// thread has no memory any more, or the other process is in the middle of exec.
bool has_other_memory(Tid tid, Tid other);

/// The memfd that thread `tid` has just made, with MFD_ALLOW_SEALING, as its descriptor `number`:
/// taken once, and proved to be one, empty, and of the thread's own user, before anything is done
/// to it.
Result<UniqueFd> take_memfd(Tid tid, int64_t number);

/// Does a process outside of this memory have the table of descriptors of this thread of `pid`
/// (CLONE_FILES)? It could take the memfd before the thread has closed it, and read what is
/// collected, whatever rights it has given up. false also where nobody may know.
bool shares_descriptors(Pid pid, Tid tid);

/// Makes it `bytes` large for good: who could make it smaller could end us.
Status size_memfd(int memfd, uint64_t bytes);

/// Why the process could not map it, by the error number of its mmap: it fails with some of them
/// only where another file is in the place of the memory.
Error why_unmapped(int error_number);

/// Has the process mapped just this file there? It is asked to map a number of a descriptor.
Status is_mapped_at(Tid tid, uint64_t address, uint64_t bytes, const FileFacts& file);

}  // namespace tracewell::target::live
