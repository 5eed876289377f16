/* System calls that are no cancellation points, may be made in a signal handler, and leave errno
 * alone. Each returns what the kernel does: -errno when it fails. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* A mask as the kernel has it: 64 signals. */
typedef uint64_t SignalMask;

static inline long call(long number, long a, long b, long c, long d, long e, long f) {
  const int before = errno;
  long result = syscall(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = before;
  return result;
}

static inline SignalMask hold_signals(void) {
  const SignalMask all = ~(SignalMask)0;
  SignalMask before = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all, 0, 0);
  return before;
}

static inline void release_signals(SignalMask before) {
  call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0, 0);
}

/* None is open when a call of the library returns: the program may close any number, and then opens
 * a file of its own there. */
static inline void close_file(int fd) { call(SYS_close, fd, 0, 0, 0, 0, 0); }

/* `name` is one in an open folder, or a path where that is AT_FDCWD. What can be read or written
 * gets none of the numbers up to 2. What is made can be read and written by its user, whatever the
 * umask is. */
HIDDEN int open_file(int folder, const char* name, int flags, int mode);

/* `flags`: of unlinkat(2). */
static inline void remove_file(int folder, const char* name, int flags) {
  call(SYS_unlinkat, folder, (long)name, flags, 0, 0, 0);
}

/* For this user alone, and with all rights for them, whatever the umask is. 0, or what is wrong. */
HIDDEN int make_folder(int folder, const char* name);

/* Room on the disk for the first `bytes`, so that no store into a mapping ends in SIGBUS. Where
 * files may not be so large it fails, and the program hears nothing of that. */
HIDDEN int allocate_file(int fd, uint32_t bytes);

/* NULL when it fails. `offset` is a multiple of a page. */
static inline void* map(void* at, size_t size, int protection, int flags, int fd,
                        uint32_t offset) {
#ifdef __x86_64__
  const long result = call(SYS_mmap, (long)at, (long)size, protection, flags, fd, (long)offset);
#else
  const long result =
      call(SYS_mmap2, (long)at, (long)size, protection, flags, fd, (long)(offset >> 12));
#endif
  return result < 0 && result > -4096 ? NULL : (void*)result;
}

static inline void unmap(void* at, size_t size) {
  call(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

/* Memory of this process alone: a child that is forked, by whatever call, finds zeros there; one of
 * vfork has its parent's. NULL when there can be none. */
static inline void* map_wiped(size_t bytes) {
  void* const fresh =
      map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!fresh || call(SYS_madvise, (long)fresh, (long)bytes, MADV_WIPEONFORK, 0, 0, 0) == 0)
    return fresh;
  unmap(fresh, bytes);
  return NULL;
}

static inline uint32_t thread_id(void) { return (uint32_t)call(SYS_gettid, 0, 0, 0, 0, 0, 0); }
static inline uint32_t process_id(void) { return (uint32_t)call(SYS_getpid, 0, 0, 0, 0, 0, 0); }
static inline int thread_lives(uint32_t process, uint32_t thread) {
  return call(SYS_tgkill, (long)process, (long)thread, 0, 0, 0, 0) != -ESRCH;
}

/* Those that sleep on a word in a shared file, which may be mapped read-only here. */
static inline void wake_sleepers(const uint32_t* word) {
  call(SYS_futex, (long)word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}
