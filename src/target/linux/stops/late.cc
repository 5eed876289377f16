#include "target/linux/stops/late.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "target/linux/inject/lent.h"
#include "target/linux/kernel/seccomp_filter.h"
#include "target/linux/threads/debug_registers.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

// In state D, and in it when we are to end.
constexpr int64_t kAsleepNs = kSecond, kAsleepAtEndNs = 300 * kMilli;
constexpr int kToldMax = 20;  // a program may have as many such threads, and times, as it likes

}  // namespace

bool Late::look(Patience& patience, const std::function<bool(const Thread&)>& waited_for) {
  const bool over = patience.over();
  const int64_t enough = patience.quitting() ? kAsleepAtEndNs : kAsleepNs;
  if (!over && patience.waited_ns() < enough) return false;
  bool some = false;
  for (Thread* thread : tracer_.threads().all()) {
    if (!waited_for(*thread)) continue;
    const auto status = proc_status(thread->tid);
    if (!over && (!status || status->state != 'D')) continue;
    give_up(*thread, status ? status->state : '?');
    some = true;
  }
  return some;
}

void Late::give_up(Thread& thread, char state) {
  tracer_.ask_to_stop(thread);
  thread.run = Run::Late;
  thread.regs_state = Thread::Registers::Unknown;
  tell(fmt::format("thread {} of process {} does not stop (state {}): it is left as it is, and "
                   "taken in again once it stops",
                   thread.tid, thread.process->pid, state));
}

void Late::tell(const std::string& text) {
  if (!tracer_.options_.notice || told_ > kToldMax) return;
  const bool last = told_++ == kToldMax;
  tracer_.options_.notice(last ? "more threads do not stop, which is not told any more" : text);
}

bool Late::take_in(Thread& thread, int status) {
  if (thread.doing.lent() && !Lent::take_back(thread, status)) return false;
  renew_debug_registers(thread);
  return true;
}

void Late::look_again(Thread& thread) {
  if (thread.run != Run::Late || tracer_.stops().take_status(thread.tid) != Came::Status) return;
  if (thread.run == Run::Stopped && thread.fresh) tracer_.park(thread);
}

/// proc(5): the call and its arguments, or -1, before these two; or "running".
std::optional<Late::Place> Late::place_of(Tid tid) {
  const auto text = code_kib(tid) == 0 ? std::nullopt : read_proc(tid, "syscall");
  if (!text) return std::nullopt;
  Place place;
  const size_t pc_at = text->rfind(' ');
  const size_t sp_at = pc_at == std::string::npos || pc_at == 0 ? std::string::npos
                                                                : text->rfind(' ', pc_at - 1);
  if (sp_at == std::string::npos) return std::nullopt;
  unsigned long sp = 0, pc = 0;
  if (std::sscanf(text->c_str() + sp_at, " %lx %lx", &sp, &pc) != 2) return std::nullopt;
  place.sp = sp;
  place.pc = pc;
  return place;
}

Status Late::read_block(const Thread& thread, std::span<uint8_t> block) const {
  const RegisterLayout& layout = tracer_.registers().map_of(*thread.process).layout();
  if (block.size() != layout.size_bytes)
    return {Errc::InvalidArgument, "a register block of another size"};
  const auto place = place_of(thread.tid);
  if (!place || !layout.pc_index || !layout.sp_index)
    return {Errc::NotFound, fmt::format("thread {} waits in the kernel", thread.tid)};
  std::ranges::fill(block, uint8_t{0});
  const auto put = [&](uint32_t index, uint64_t value) {
    const Register& one = layout.registers[index];
    store_uint(block.data() + one.offset, value, one.size_bytes, Endian::Little);
  };
  put(*layout.pc_index, place->pc);
  put(*layout.sp_index, place->sp);
  return {};
}

std::vector<uint8_t> Late::known_registers(const Thread& thread) const {
  const RegisterLayout& layout = tracer_.registers().map_of(*thread.process).layout();
  std::vector<uint8_t> known((layout.registers.size() + 7) / 8);
  for (const auto index : {layout.pc_index, layout.sp_index})
    if (index) known[*index / 8] |= static_cast<uint8_t>(1u << (*index % 8));
  return known;
}

bool Late::may_return_into_ours(const AddressSpace& space) const {
  for (const Thread* thread : tracer_.threads().all()) {
    if (thread->process->space.get() != &space || thread->run != Run::Late) continue;
    const auto place = place_of(thread->tid);
    if (!place || space.copy_at(place->pc) != nullptr) return true;
    if (space.fast && space.fast->inside(place->pc)) return true;
  }
  return false;
}

std::optional<bool> Late::take_back(Tid tid) {
  const auto it = leaving_.find(tid);
  if (it == leaving_.end()) return std::nullopt;
  const bool traps = it->second.has_traps;
  leaving_.erase(it);
  return traps;
}

bool Late::has_ours(Tid tid) const {
  const auto it = leaving_.find(tid);
  return it != leaving_.end() && (it->second.lent || it->second.half_way);
}

/// The caller has the leader's id from now on, and the new program's registers.
void Late::exec_happened(Tid leader) {
  unsigned long message = 0;
  if (trace(PTRACE_GETEVENTMSG, leader, 0, &message) != 0) return;
  const auto caller = static_cast<Tid>(message);
  const auto it = leaving_.find(caller);
  if (it == leaving_.end()) return;
  Leaving leaving = std::move(it->second);
  leaving.lent.reset();
  leaving_.erase(it);
  if (tracer_.threads().find(leader) == nullptr) leaving_[leader] = std::move(leaving);
}

void Late::let_go(const Thread& thread) {
  Leaving& leaving = leaving_[thread.tid];
  const LeavingCode* const out = thread.doing.leaving_code();
  leaving.has_traps = thread.doing.step() != nullptr || out != nullptr || thread.armed;
  leaving.pid = thread.process->pid;
  leaving.space = thread.process->space;
  if (out != nullptr) leaving.half_way = *out;
  leaving.lent = thread.doing.lent();
  if (thread.deferred_signal != 0)
    tgkill(thread.process->pid, thread.tid, thread.deferred_signal);
}

void Late::let_go(Tid tid) {
  const auto status = proc_status(tid);
  leaving_[tid] = {};
  leaving_[tid].pid = status ? status->tgid : 0;
}

/// Nobody has this id any more: it has ended, or has its leader's by now, which exec gave to it
/// before it tells of that.
void Late::follow(Tid gone, Pid pid) {
  const auto status = pid != 0 && pid != gone ? proc_status(pid) : std::nullopt;
  if (status && status->tracer == gettid() && tracer_.threads().find(pid) == nullptr) {
    leaving_[pid] = {};
    leaving_[pid].pid = pid;
  }
  leaving_.erase(gone);
}

bool Late::any_of(const std::function<bool(Pid)>& test) const {
  return std::ranges::any_of(leaving_, [&](const auto& one) { return test(one.second.pid); });
}

void Late::give_back(Tid tid, const Leaving& leaving) {
  if (!leaving.half_way) return;
  trace(PTRACE_SETSIGMASK, tid, sizeof leaving.half_way->blocked,
        const_cast<uint64_t*>(&leaving.half_way->blocked));
  for (const siginfo_t& signal : leaving.half_way->sent) send_again(leaving.pid, tid, signal);
}

/// A trap of a debug register or of a step of ours is none of the program's.
void Late::on_status(Tid tid, int status) {
  uint64_t signal = is_signal_stop(status) ? static_cast<uint64_t>(stop_signal(status)) : 0;
  Leaving& leaving = leaving_[tid];
  (void)tracer_.unborn().tick();
  if (tells_of_child(status))  // the child would stand in its first stop for as long as we live
    if (const Tid child = tracer_.unborn().told_by(tid, leaving.pid, 0); child != 0)
      tracer_.unborn().orphan(child, leaving.space);
  if (WIFSTOPPED(status) && leaving.lent && !leaving.lent->take_back(leaving.pid, tid, status))
    return;
  if (WIFSTOPPED(status)) give_back(tid, leaving);
  if (WIFSTOPPED(status) && leaving.has_traps) {
    siginfo_t info{};
    if (signal == SIGTRAP && trace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code > 0)
      signal = 0;
    trace(PTRACE_POKEUSER, tid, offsetof(user, u_debugreg) + 7 * sizeof(long), uint64_t{0});
  }
  user_regs_struct regs{};
  if (WIFSTOPPED(status) && trace(PTRACE_GETREGS, tid, 0, &regs) == 0 &&
      restart_is_forbidden(tid, regs)) {
    begin_call_anew(regs);
    trace(PTRACE_SETREGS, tid, 0, &regs);
  }
  if (WIFSTOPPED(status) && trace(PTRACE_DETACH, tid, 0, signal) != 0) return;
  const auto gone = leaving_.extract(tid);
  tracer_.unborn().memory_gone(gone.mapped().space);
}

bool Late::release() {
  const std::map<Tid, Leaving> now = leaving_;
  for (const auto& [tid, leaving] : now)
    if (tracer_.stops().take_status(tid) == Came::NotOurs) follow(tid, leaving.pid);
  tracer_.unborn().look();
  return !leaving_.empty();
}

void Late::stay_for_lent() {
  const auto has_ours = [](const auto& one) { return one.second.lent || one.second.half_way; };
  constexpr timespec kPause{0, 20 * kMilli};
  constexpr int64_t kUnguardedNs = 2 * kSecond;
  const int64_t begin = monotonic_ns();
  for (bool stays = false; std::ranges::any_of(leaving_, has_ours);) {
    if (!stays && monotonic_ns() - begin > kUnguardedNs) {
      const auto& [tid, leaving] = *std::ranges::find_if(leaving_, has_ours);
      stays = tracer_.options_.stay &&
              tracer_.options_.stay(fmt::format("thread {} of process {} is in the middle of what "
                                                "tracing made it do, and does not stop",
                                                tid, leaving.pid));
      if (!stays) return;
    }
    (void)release();
    nanosleep(&kPause, nullptr);
  }
}

std::vector<Tid> Late::leaving() const {
  std::vector<Tid> out;
  for (const auto& [tid, leaving] : leaving_) out.push_back(tid);
  return out;
}

}  // namespace tracewell::target::live
