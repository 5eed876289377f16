#include "target/linux/threads/debug_registers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

#include <sys/user.h>

#include <fmt/format.h>

#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

using Kind = Breakpoints::Kind;

uint64_t debug_register(size_t i) { return offsetof(user, u_debugreg) + i * sizeof(long); }

uint64_t control(const std::array<HardwareSlot, 4>& slots) {
  uint64_t dr7 = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    const HardwareSlot& slot = slots[i];
    if (slot.users == 0) continue;
    const uint64_t type = slot.kind == Kind::Hardware ? 0 : slot.kind == Kind::WriteWatch ? 1 : 3;
    const uint64_t size = slot.kind == Kind::Hardware ? 0
                          : slot.size == 8            ? 2
                                                      : slot.size - 1;
    dr7 |= uint64_t{1} << (2 * i);
    dr7 |= (type | size << 2) << (16 + 4 * i);
  }
  return dr7;
}

struct Piece {
  uint64_t address;
  uint32_t size;
};

/// Aligned pieces of 1, 2, 4 and 8 bytes.
std::vector<Piece> pieces(Kind kind, uint64_t address, uint32_t size) {
  if (kind == Kind::Hardware) return {{address, 1}};
  std::vector<Piece> result;
  while (size > 0 && result.size() <= 4) {
    uint32_t piece = 8;
    while (piece > size || address % piece != 0) piece /= 2;
    result.push_back({address, piece});
    address += piece;
    size -= piece;
  }
  return result;
}

bool load(Thread& thread, const std::array<HardwareSlot, 4>& slots) {
  const Tid tid = thread.tid;
  if (trace(PTRACE_POKEUSER, tid, debug_register(7), uint64_t{0}) != 0) return false;
  bool good = true;
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].users > 0)
      good &= trace(PTRACE_POKEUSER, tid, debug_register(i), slots[i].address) == 0;
  const uint64_t dr7 = control(slots);
  thread.armed = dr7 != 0;
  if (dr7 != 0) good &= trace(PTRACE_POKEUSER, tid, debug_register(7), dr7) == 0;
  return good;
}

bool in_use(const std::array<HardwareSlot, 4>& slots) {
  return std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return slot.users > 0; });
}

}  // namespace

void load_debug_registers(Thread& thread) {
  if (in_use(thread.process->hardware)) renew_debug_registers(thread);
}

/// What is armed may have been removed since, while nobody could reach the thread.
void clear_debug_registers(Thread& thread) {
  if (thread.armed || in_use(thread.process->hardware)) (void)load(thread, {});
}

/// They may have changed while nobody could reach the thread.
void renew_debug_registers(Thread& thread) {
  (void)load(thread, thread.process->hardware);
}

Status insert_hardware(const ThreadTable& threads, Process& process, Kind kind, uint64_t at,
                       uint32_t size) {
  std::array<HardwareSlot, 4> slots = process.hardware;
  if (size == 0 && kind != Kind::Hardware) return {Errc::InvalidArgument, "nothing to watch"};
  for (const Piece& piece : pieces(kind, at, size)) {
    HardwareSlot* found = nullptr;
    for (HardwareSlot& slot : slots)
      if (slot.users > 0 && slot.kind == kind && slot.address == piece.address &&
          slot.size == piece.size)
        found = &slot;
    for (HardwareSlot& slot : slots)
      if (found == nullptr && slot.users == 0) found = &slot;
    if (found == nullptr) return {Errc::Limit, "all four debug registers are in use"};
    *found = {kind, piece.address, piece.size, found->users + 1};
  }
  for (Thread* thread : threads.threads_of(process)) {
    if (thread->run != Run::Stopped || load(*thread, slots) || errno == ESRCH) continue;
    const int why = errno;
    for (Thread* other : threads.threads_of(process)) load(*other, process.hardware);
    return errno_error(why, fmt::format("debug registers for 0x{:x}", at), Errc::Target);
  }
  process.hardware = slots;
  return {};
}

Status remove_hardware(const ThreadTable& threads, Process& process, Kind kind, uint64_t at,
                       uint32_t size) {
  for (const Piece& piece : pieces(kind, at, size))
    for (HardwareSlot& slot : process.hardware)
      if (slot.users > 0 && slot.kind == kind && slot.address == piece.address &&
          slot.size == piece.size)
        --slot.users;
  for (Thread* thread : threads.threads_of(process))
    if (thread->run == Run::Stopped) load(*thread, process.hardware);
  return {};
}

uint64_t take_hit_registers(Thread& thread) {
  if (!in_use(thread.process->hardware)) return 0;
  errno = 0;
  const long dr6 = trace(PTRACE_PEEKUSER, thread.tid, debug_register(6), uint64_t{0});
  if (errno != 0 || (dr6 & 0xf) == 0) return 0;
  trace(PTRACE_POKEUSER, thread.tid, debug_register(6), static_cast<uint64_t>(dr6 & ~0xfl));
  return static_cast<uint64_t>(dr6 & 0xf);
}

}  // namespace tracewell::target::live
