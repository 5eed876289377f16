/* base/freestanding: no libc, no allocation. C and C++.
 *
 * The system calls that code of ours makes in a traced process by itself: there are no others. The
 * program's filters (seccomp) have to allow each of them, whatever its arguments, or there is no
 * such code in it. */
#ifndef TRACEWELL_RING_HIT_CALLS_H
#define TRACEWELL_RING_HIT_CALLS_H

#define TRACEWELL_HIT_CALLS(CALL)      \
  CALL(kSigAction, 13, "rt_sigaction") \
  CALL(kSchedYield, 24, "sched_yield") \
  CALL(kGetTid, 186, "gettid")         \
  CALL(kGetCpu, 309, "getcpu")         \
  CALL(kProcessVmReadv, 310, "process_vm_readv")

#define TRACEWELL_CALL_NUMBER(constant, number, name) constant = number,
enum tracewell_hit_call { TRACEWELL_HIT_CALLS(TRACEWELL_CALL_NUMBER) };
#undef TRACEWELL_CALL_NUMBER

#endif
