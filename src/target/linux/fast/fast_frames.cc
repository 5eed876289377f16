// What hits of fast sites have found, as a debugger is to see it.
#include <algorithm>
#include <utility>

#include "target/linux/fast/fast_sites.h"

namespace tracewell::target::live {

void LiveFastSites::to_block(const Found& found, std::span<uint8_t> block) {
  user_regs_struct regs{};
  const auto& general = found.general;
  regs.rax = general[0], regs.rcx = general[1], regs.rdx = general[2], regs.rbx = general[3];
  regs.rsp = general[4], regs.rbp = general[5], regs.rsi = general[6], regs.rdi = general[7];
  regs.r8 = general[8], regs.r9 = general[9], regs.r10 = general[10], regs.r11 = general[11];
  regs.r12 = general[12], regs.r13 = general[13], regs.r14 = general[14], regs.r15 = general[15];
  regs.rip = found.rip, regs.eflags = found.eflags;
  regs.fs_base = found.fs_base, regs.gs_base = found.gs_base;
  regs.cs = found.cs, regs.ss = found.ss, regs.ds = found.ds;
  regs.es = found.es, regs.fs = found.fs, regs.gs = found.gs;
  regs.orig_rax = ~uint64_t{0};  // in no system call
  std::ranges::fill(block, uint8_t{0});
  const RegisterMap& map = registers_.map_of_64_bit();
  map.to_block(regs, map.expand(found.vectors), block);
}

std::pair<uint64_t, uint64_t> LiveFastSites::changed_range(Pid pid) {
  const Process* const process = threads_.find_process(pid);
  return process != nullptr ? process->space->changed_range() : std::pair<uint64_t, uint64_t>();
}

bool LiveFastSites::is_changed(Pid pid, uint64_t address, uint64_t bytes) {
  const Process* const process = threads_.find_process(pid);
  return process != nullptr && process->space->is_changed(address, bytes);
}

void LiveFastSites::hide(Pid pid, uint64_t address, std::span<uint8_t> bytes) {
  if (const Process* process = threads_.find_process(pid))
    process->space->hide_patches(address, bytes);
}

}  // namespace tracewell::target::live
