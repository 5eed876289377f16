#include "target/linux/inject/far_memory.h"

#include <cerrno>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/shared_memory.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kErrnoMax = 4095;
constexpr uint64_t kMemfdFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;

Error why(const Result<int64_t>& result, const char* what) {
  if (!result.ok()) return result.error();
  return errno_error(static_cast<int>(-*result), what, Errc::Target);
}

bool has_locked_memory(const std::string& status) {
  return status_value(status, "VmLck") != "0 kB";
}

}  // namespace

bool call_failed(const Result<int64_t>& result) {
  return !result.ok() || (*result < 0 && *result >= -kErrnoMax);
}

Result<uint64_t> FarMemory::map(Thread& thread, uint64_t bytes, int protection, int flags,
                                int fd) {
  const uint64_t wanted = FastCode::far_away();
  const auto mapped = injector_.system_call(
      thread, {SYS_mmap, wanted, bytes, static_cast<uint64_t>(protection),
               static_cast<uint64_t>(flags), static_cast<uint64_t>(int64_t{fd}), 0});
  if (!mapped.ok()) return mapped.error();
  if (*mapped == -EAGAIN) return because(TrapReason::LockedMemory);
  if (call_failed(mapped)) return why_unmapped(static_cast<int>(-*mapped));
  return static_cast<uint64_t>(*mapped);
}

/// A memfd in the program. Not where a thread may not read the time stamp counter: that is mostly
/// said for all of them, before there are many, and the first one found without it is as good as
/// any. Who has it taken away later is noticed by the collector. `locks`: all memory to come may be
/// locked (mlockall, MCL_FUTURE), and so filled at once: nothing tells but memory that has come.
Result<int64_t> FarMemory::make_shared(Thread& thread, bool& locks) {
  AddressSpace& space = *thread.process->space;
  TW_ASSIGN_OR_RETURN(const uint64_t page,
                      map(thread, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  best_effort(injector_.system_call(thread, {SYS_prctl, PR_GET_TSC, page, 0, 0, 0, 0}));
  const bool denied = space.read_value<int>(page) == PR_TSC_SIGSEGV;
  const auto status = read_proc(thread.tid, "status");
  locks = !status || has_locked_memory(*status);
  best_effort(space.write_raw(page, as_bytes("tracewell")));
  Result<int64_t> made = 0;
  if (!denied)
    made =
        injector_.system_call(thread, {SYS_memfd_create, page, kMemfdFlags, 0, 0, 0, 0});
  best_effort(injector_.system_call(thread, {SYS_munmap, page, kPage, 0, 0, 0, 0}));
  if (denied) return because(TrapReason::TicksDenied);
  if (call_failed(made)) return why(made, "memory cannot be shared with the program");
  return made;
}

void FarMemory::unlock(Thread& thread, uint64_t start, uint64_t bytes) {
  best_effort(injector_.system_call(thread, {SYS_munlock, start, bytes, 0, 0, 0, 0}));
}

/// Where what is mapped is locked, a page of it, which is not locked any more when it grows to all.
Result<uint64_t> FarMemory::map_shared(Thread& thread, uint64_t bytes, int fd, bool locks) {
  constexpr int kReadWrite = PROT_READ | PROT_WRITE;
  const uint64_t now = locks ? kPage : bytes;
  TW_ASSIGN_OR_RETURN(const uint64_t start,
                      map(thread, now, kReadWrite, MAP_SHARED | MAP_NORESERVE, fd));
  if (!locks) return start;
  unlock(thread, start, now);
  const auto grown = injector_.system_call(thread, {SYS_mremap, start, now, bytes, 0, 0, 0});
  if (!call_failed(grown)) return start;
  best_effort(injector_.system_call(thread, {SYS_munmap, start, now, 0, 0, 0, 0}));
  return why(grown, "memory cannot be mapped in the program");
}

/// The fork may give up rights, and is not to see or change what its parent goes on to collect. Nor
/// is it to keep that memory, for as long as it lives. Pads stay: they are small, and many. Where
/// its thread may have been forked by a handler of signals inside of a hit, and return there, it
/// gets memory of its own in that place; what nobody writes to takes none. Where no call can be
/// made (its calls are filtered, and we are not root) it keeps what it has: no hit goes by that.
void FarMemory::unshare(Thread& thread) {
  AddressSpace& space = *thread.process->space;
  for (const auto& [start, bytes, shared] : std::exchange(space.inherited, {})) {
    const auto unmap = [&, start = start, bytes = bytes] {
      best_effort(injector_.system_call(thread, {SYS_munmap, start, bytes, 0, 0, 0, 0}));
    };
    if (!space.returns_into_inherited && (shared || bytes > kPage)) unmap();
    if (!space.returns_into_inherited || !shared) continue;
    const auto mapped = injector_.system_call(
        thread, {SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, ~uint64_t{0}, 0});
    if (mapped.ok() && call_failed(mapped)) unmap();  // where memory is not to be promised twice
  }
}

}  // namespace tracewell::target::live
