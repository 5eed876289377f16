// Loads of hits that fail in a program that handles faults itself.
//
// The thread goes on behind the load, and the program hears nothing. Where it blocked the signal,
// the kernel has taken the handler away, from all threads, and has unblocked the signal: both are
// put back before the thread goes on. That it was blocked is told by the missing handler alone. So
// all other threads stop first: one of them may have run into the same a moment before.
#include "target/linux/fast/mender.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/patience.h"
#include "target/linux/stops/starter.h"
#include "target/linux/threads/register_blocks.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kActionSetBytes = 8, kPageOfCalls = 4096, kResetFlag = SA_RESETHAND;
/// Where in the page of calls hits write down handlers: a number, and two actions.
constexpr uint64_t kWrittenAt = 1024, kWrittenBytes = 8 + 2 * sizeof(FaultAction);
constexpr int kStandsStatus = kEventStop << 16 | SIGTRAP << 8 | 0x7f;

uint64_t blocked_by(const Thread& thread) {
  uint64_t mask = 0;
  trace(PTRACE_GETSIGMASK, thread.tid, kActionSetBytes, &mask);
  return mask;
}

void block(const Thread& thread, int signal) {
  uint64_t mask = blocked_by(thread) | bit_of(signal);
  trace(PTRACE_SETSIGMASK, thread.tid, kActionSetBytes, &mask);
}

/// Where more than one may have. Who blocks faults mostly blocks all of them, and the kernel has
/// unblocked this one alone; or has been seen to block it.
bool seems_to_block(const FaultHandlers& handlers, const Thread& thread, int signal) {
  constexpr uint64_t kOthers = bit_of(SIGILL) | bit_of(SIGFPE) | bit_of(SIGTRAP);
  return (blocked_by(thread) & kOthers) == kOthers || handlers.blocked_then(thread.tid, signal);
}

/// Has the thread had this handler, which may be gone?
bool had_handler(FaultHandlers* handlers, const Thread& thread, int signal) {
  return handlers != nullptr && handlers->owner() == thread.process->pid &&
         handlers->of(signal).is_caught();
}

}  // namespace

Result<FaultAction> Mender::action_of(Thread& thread, int signal) {
  const AddressSpace& space = *thread.process->space;
  const uint64_t page = space.fast->handlers->page();
  const auto done = injector_.system_call(
      thread, {SYS_rt_sigaction, static_cast<uint64_t>(signal), 0, page, kActionSetBytes, 0, 0});
  FaultAction out;
  uint8_t bytes[sizeof out] = {};
  if (!done.ok()) return done.error();
  if (*done != 0 || space.read_raw(page, bytes) != sizeof bytes)
    return {Errc::Target, "a signal's handler cannot be asked for"};
  std::memcpy(&out, bytes, sizeof out);
  return out;
}

Result<uint64_t> Mender::learn(Pid pid, Thread& thread) {
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  if (!space->fast) return {Errc::Unsupported, "another program runs there now"};
  if (!space->fast->handlers) {
    TW_ASSIGN_OR_RETURN(const uint64_t page,
                        memory_.map(thread, kPageOfCalls, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1));
    space->fast->mapped.push_back({page, kPageOfCalls});
    space->fast->handlers = std::make_shared<FaultHandlers>(pid, page);
  }
  const std::shared_ptr<FaultHandlers> handlers = space->fast->handlers;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    TW_ASSIGN_OR_RETURN(handlers->of(signal), action_of(thread, signal));
    if (thread.run != Run::Stopped || !space->fast)
      return {Errc::Target, "the thread that was asked is gone"};
  }
  if (!handlers->known()) return {Errc::Unsupported, "it ignores faults"};
  best_effort(space->write_raw(handlers->page() + kWrittenAt, std::vector<uint8_t>(kWrittenBytes)));
  handlers->taken = handlers->odd = 0;
  handlers->is_stuck = false;
  return handlers->page() + kWrittenAt;
}

/// What a hit was told by the kernel. One that it found without a handler may have lost that a
/// moment before; see FaultHandlers::look() for those that have none for good.
void Mender::take_newer_handlers(AddressSpace& space) {
  FaultHandlers& handlers = *space.fast->handlers;
  uint8_t bytes[kWrittenBytes] = {};
  uint64_t sequence = 0;
  FaultAction found[2];
  if (space.read_raw(handlers.page() + kWrittenAt, bytes) != sizeof bytes) return;
  std::memcpy(&sequence, bytes, sizeof sequence);
  std::memcpy(found, bytes + sizeof sequence, sizeof found);
  handlers.is_stuck = sequence % 2 != 0 && sequence == handlers.odd;
  handlers.odd = sequence % 2 != 0 ? sequence : 0;
  if (sequence == handlers.taken || sequence % 2 != 0) return;
  uint64_t afterwards = 0;  // threads may run
  space.read_raw(handlers.page() + kWrittenAt,
                 {reinterpret_cast<uint8_t*>(&afterwards), sizeof afterwards});
  if (afterwards != sequence) return;
  handlers.taken = sequence;
  if (!found[0].is_default()) handlers.of(SIGSEGV) = found[0];
  if (!found[1].is_default()) handlers.of(SIGBUS) = found[1];
}

/// At a load that has failed by this signal, and which nobody has looked at.
bool Mender::has_failed(Thread& thread, int signal) {
  const FastCode& code = *thread.process->space->fast;
  if (thread.run != Run::Stopped || !thread.fresh) return false;
  if (!code.redirected(signal, regs_of(thread).rip)) return false;
  if (is_signal_stop(thread.status)) {
    siginfo_t info{};
    return stop_signal(thread.status) == signal &&
           trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) == 0 && info.si_code > 0;
  }
  const auto status = proc_status(thread.tid);
  return status && (status->pending & bit_of(signal)) != 0;
}

/// This one stands behind its load; all others stand still.
void Mender::put_back(Thread& thread, int signal) {
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  const std::shared_ptr<FaultHandlers> handlers = space->fast->handlers;
  take_newer_handlers(*space);
  FaultAction& known = handlers->of(signal);
  std::vector<Thread*> failed;
  for (Thread* other : threads_.all())
    if (other != &thread && other->process == thread.process && has_failed(*other, signal))
      failed.push_back(other);
  thread.status = kStandsStatus;  // the signal is dropped
  const auto now = action_of(thread, signal);
  if (thread.run != Run::Stopped) return;
  if (!now.ok() || (now->is_default() && (now->flags != known.flags || now->mask != known.mask ||
                                          now->restorer != known.restorer)))
    return handlers->note_lost(signal);
  if (now->is_default()) {
    best_effort(space->write_raw(handlers->page(),
                           {reinterpret_cast<const uint8_t*>(&known), sizeof known}));
    const auto done = injector_.system_call(
        thread, {SYS_rt_sigaction, static_cast<uint64_t>(signal), handlers->page(), 0,
                 kActionSetBytes, 0, 0});
    if (!done.ok() || *done != 0) handlers->note_lost(signal);
    if (thread.run != Run::Stopped) return;
  }
  if (failed.empty() || seems_to_block(*handlers, thread, signal)) block(thread, signal);
  for (const Thread* other : failed)
    if (seems_to_block(*handlers, *other, signal)) block(*other, signal);
  handlers->note_restored(monotonic_ns());
}

void note_failed_load(const Wishes& wishes, const Thread& thread, uint64_t address) {
  FaultHandlers* const handlers = thread.process->space->fast->handlers.get();
  if (handlers == nullptr) return;
  handlers->note_failed(address);
  if (wishes.handler != nullptr) wishes.handler->on_failed_load();
}

void Mender::mend(Thread& thread, int signal, uint64_t address) {
  const std::shared_ptr<FaultHandlers> handlers = thread.process->space->fast->handlers;
  note_failed_load(wishes_, thread, address);
  if (!had_handler(handlers.get(), thread, signal)) return;
  const auto status = read_proc(thread.tid, "status");
  if (!status || catches(*status, signal)) return;
  stopper_.quiesce(thread);
  if (thread.run == Run::Stopped && !thread.fresh) put_back(thread, signal);
}

/// Its load has failed, and another stop came first: the signal's. Null: it does not come.
Thread* Mender::let_signal_come(Tid tid) {
  let_come(*threads_.find(tid));
  const bool came = stops_.await_within(tid, kSecond) == Waited::Stopped;
  return came ? threads_.find(tid) : nullptr;
}

/// Those that have run into the same, of one space, while all stand still.
void Mender::put_back_first(const AddressSpace& space, Tid but, int signal) {
  std::vector<Tid> failed;
  for (Thread* other : threads_.all())
    if (other->tid != but && other->process->space.get() == &space &&
        had_handler(space.fast->handlers.get(), *other, signal) && has_failed(*other, signal))
      failed.push_back(other->tid);
  for (const Tid tid : failed) {
    Thread* other = threads_.find(tid);
    if (other != nullptr && !is_signal_stop(other->status)) other = let_signal_come(tid);
    if (other == nullptr || !has_failed(*other, signal) || !is_signal_stop(other->status)) continue;
    const auto next = space.fast->redirected(signal, regs_of(*other).rip);
    set_pc(*other, *next);
    other->fresh = false;
    put_back(*other, signal);
    other->fresh = other->run == Run::Stopped;  // it goes on in its turn
    return;
  }
}

/// A fault of the program's own, while the handler is gone since another thread's load has failed:
/// that one comes first. False: the thread has ended meanwhile, or is about to.
bool Mender::before_signal(Thread& thread, int signal) {
  const std::shared_ptr<FaultHandlers> handlers = thread.process->space->fast->handlers;
  if (!had_handler(handlers.get(), thread, signal)) return true;
  const Tid tid = thread.tid;
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  take_newer_handlers(*space);
  const auto status = read_proc(tid, "status");
  if (status && !catches(*status, signal)) {
    stopper_.quiesce(thread);
    if (thread.run != Run::Stopped) return false;
    put_back_first(*space, tid, signal);
    if (threads_.find(tid) != &thread || thread.run != Run::Stopped) return false;
  }
  if ((handlers->of(signal).flags & kResetFlag) == 0) return true;
  handlers->of(signal) = {};
  if (wishes_.handler != nullptr) wishes_.handler->on_failed_load();
  return true;
}

}  // namespace tracewell::target::live
