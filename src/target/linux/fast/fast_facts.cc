// What is known of a program with fast sites, and what hits of them have found, as a debugger is to
// see it.
#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>

#include "target/linux/fast/fast_sites.h"
#include "target/linux/fast/fault_handlers.h"
#include "target/linux/kernel/ptrace.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

/// May a load there do more, or be answered by somebody else than memory? Names tell: of devices,
/// files of the kernel's, and its own pages.
bool is_memory(const Mapping& map) {
  using namespace std::string_view_literals;
  const std::string_view path = map.path;
  const auto begins = [&](std::string_view with) { return path.starts_with(with); };
  if (path.empty()) return map.inode == 0;
  if (path.front() == '[')
    return std::ranges::any_of(std::array{"[heap]"sv, "[stack"sv, "[anon"sv, "[vdso]"sv}, begins);
  if (path.front() != '/') return false;
  if (begins("/dev/"))
    return std::ranges::any_of(std::array{"/dev/shm/"sv, "/dev/zero"sv, "/dev/hugepages/"sv},
                               begins);
  return !begins("/proc/") && !begins("/sys/");
}

void cut_out(std::vector<FastSites::Range>& ranges, uint64_t start, uint64_t end) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    FastSites::Range& one = ranges[i];
    if (end <= one.start || start >= one.end) continue;
    const FastSites::Range behind{end, one.end};
    one.end = std::max(one.start, start);
    if (behind.start < behind.end)
      ranges.insert(ranges.begin() + static_cast<ptrdiff_t>(i) + 1, behind);
    return;
  }
}

bool is_of_ours(const std::vector<FastCode::Mapped>& ours, const Mapping& map) {
  return std::ranges::any_of(ours, [&](const FastCode::Mapped& one) {
    return one.shared && map.start >= one.start && map.start < one.start + one.bytes;
  });
}

}  // namespace

Result<uint64_t> LiveFastSites::learn_handlers(Pid pid) {
  const Still still(*this);
  Process* const process = threads_.find_process(pid);
  Thread* const thread =
      process == nullptr ? nullptr : injector_.injectable(*process->space, process);
  if (thread == nullptr) return because(TrapReason::NoCalls, "", Errc::Target);
  return core_.mender.learn(pid, *thread);
}

FastSites::Mended LiveFastSites::mended(Pid pid) {
  const Process* const process = threads_.find_process(pid);
  const bool any = process != nullptr && process->space->fast && process->space->fast->handlers;
  return any ? process->space->fast->handlers->mended : Mended{};
}

/// Where nothing is known of SIGBUS, files that others may cut are left out. Text and data of the
/// program are not: who cuts those ends it anyway.
std::vector<FastSites::Range> LiveFastSites::readable(Pid pid) {
  const Process* const process = threads_.find_process(pid);
  const Thread* const lives = threads_.first_thread(pid);
  if (process == nullptr || lives == nullptr || !process->space->fast) return {};
  const FastCode& code = *process->space->fast;
  if (!code.handlers) return {};
  const bool may_be_cut = code.handlers->of(SIGBUS).is_caught();
  std::vector<Range> out;
  for (const Mapping& map : mappings(lives->tid, core_.gives_up)) {
    if (!map.readable || !is_memory(map) || is_of_ours(code.mapped, map)) continue;
    if (map.shared && map.inode != 0 && !may_be_cut) continue;
    if (!out.empty() && out.back().end == map.start) out.back().end = map.end;
    else out.push_back({map.start, map.end});
  }
  for (const uint64_t page : code.handlers->failed_pages())
    cut_out(out, page, page + FaultHandlers::kPage);
  return out;
}

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
