#include "target/linux/stops/late.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <fmt/format.h>

#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/starter.h"

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
  for (Thread* thread : threads_.all()) {
    if (!waited_for(*thread)) continue;
    const auto status = proc_status(thread->tid);
    if (!over && (!status || status->state != 'D')) continue;
    give_up(*thread, status ? status->state : '?');
    some = true;
  }
  return some;
}

void Late::give_up(Thread& thread, char state) {
  ask_to_stop(thread);
  thread.run = Run::Late;
  thread.regs_state = Thread::Registers::Unknown;
  tell(fmt::format("thread {} of process {} does not stop (state {}): it is left as it is, and "
                   "taken in again once it stops",
                   thread.tid, thread.process->pid, state));
}

void Late::tell(const std::string& text) {
  if (!notice_ || told_ > kToldMax) return;
  const bool last = told_++ == kToldMax;
  notice_(last ? "more threads do not stop, which is not told any more" : text);
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
  const RegisterLayout& layout = registers_.map_of(*thread.process).layout();
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
  const RegisterLayout& layout = registers_.map_of(*thread.process).layout();
  std::vector<uint8_t> known((layout.registers.size() + 7) / 8);
  for (const auto index : {layout.pc_index, layout.sp_index})
    if (index) known[*index / 8] |= static_cast<uint8_t>(1u << (*index % 8));
  return known;
}

bool Late::may_return_into_ours(const AddressSpace& space) const {
  for (const Thread* thread : threads_.all()) {
    if (thread->process->space.get() != &space || thread->run != Run::Late) continue;
    const auto place = place_of(thread->tid);
    if (!place || space.copy_at(place->pc) != nullptr) return true;
    if (space.fast && space.fast->inside(place->pc)) return true;
  }
  return false;
}

}  // namespace tracewell::target::live
