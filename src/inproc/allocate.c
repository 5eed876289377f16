/* Room for files. A file that would grow beyond RLIMIT_FSIZE (ulimit -f) fails with EFBIG, and the
 * kernel sends SIGXFSZ to the thread that asked, which ends a program that has no handler. The file
 * is ours and not the program's, so that signal is none of the program's either: it is held back,
 * and taken back. setrlimit(2), signal(7) */
#include "inproc/system.h"

#define SIZE_SIGNAL ((SignalMask)1 << (SIGXFSZ - 1))
#define SIGINFO_WORDS 16 /* as the kernel has it: 128 bytes */

static int size_signal_waits(void) {
  SignalMask waiting = 0;
  call(SYS_rt_sigpending, (long)&waiting, sizeof waiting, 0, 0, 0, 0);
  return (waiting & SIZE_SIGNAL) != 0;
}

/* `waited`: one was held back before, which the program is to find as it was. Of one signal there
 * is at most one for the thread, which ours is part of then, and one for the process; the thread's
 * is taken first. So where none is left, it was the program's. */
static void take_size_signal_back(int waited) {
  const SignalMask one = SIZE_SIGNAL;
  const long at_once[2] = {0, 0};
  uint64_t info[SIGINFO_WORDS] = {0};
  const long took =
      call(SYS_rt_sigtimedwait, (long)&one, (long)info, (long)at_once, sizeof one, 0, 0);
  if (took != SIGXFSZ || !waited || size_signal_waits()) return;
  call(SYS_rt_tgsigqueueinfo, process_id(), thread_id(), SIGXFSZ, (long)info, 0, 0);
}

static int allocate(int fd, uint32_t bytes) {
#ifdef __x86_64__
  return (int)call(SYS_fallocate, fd, 0, 0, (long)bytes, 0, 0);
#else
  return (int)call(SYS_fallocate, fd, 0, 0, 0, (long)bytes, 0);
#endif
}

int allocate_file(int fd, uint32_t bytes) {
  const SignalMask one = SIZE_SIGNAL;
  SignalMask before = 0;
  int waited;
  int result;
  call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&one, (long)&before, sizeof one, 0, 0);
  waited = size_signal_waits();
  result = allocate(fd, bytes);
  if (result == -EFBIG) take_size_signal_back(waited);
  release_signals(before);
  return result;
}
