// Memory of a fork. A program may let nobody look into it (prctl(2), PR_SET_DUMPABLE; a file that
// may not be read): then who traces it without CAP_SYS_PTRACE may not open its memory. What was
// opened before stays open, and a fork's is to be opened anew, which only the fork can allow.
#include <algorithm>
#include <cerrno>

#include <sys/prctl.h>

#include <fmt/format.h>

#include "base/files/open.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/stops/unborn.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kFirstStopNs = 200 * kMilli;  // it follows the birth at once

/// Where the creator of one that has just been born made the call: that is in both memories.
uint64_t call_behind(const AddressSpace& memory, Tid child) {
  user_regs_struct regs{};
  if (trace(PTRACE_GETREGS, child, 0, &regs) != 0) return 0;
  const auto& call = system_calls(memory.is_32_bit).instruction;
  uint8_t code[sizeof call] = {};
  const uint64_t at = regs.rip - sizeof call;
  const bool is_call =
      memory.read(at, code) == sizeof code && std::equal(code, code + sizeof code, call);
  return is_call ? at : 0;
}

}  // namespace

bool Unborn::may_not_be_opened(Tid child) {
  return !open_named_to_write(fmt::format("/proc/{}/mem", child)).ok() &&
         (errno == EACCES || errno == EPERM);
}

bool Unborn::await_first_stop(Tid child) {
  const Nudger::Wait nudged(core_.stops.nudger());
  for (Patience patience(kFirstStopNs, core_.gives_up); !waiting_.contains(child);) {
    const Came came = core_.stops.take_status(child);
    if (came == Came::Status) continue;
    if (came == Came::NotOurs || patience.over() || !core_.stops.wait_once(true)) break;
  }
  return waiting_.contains(child);
}

/// While it makes calls for us it stands in the tables, as one that shares its creator's memory.
Result<std::shared_ptr<AddressSpace>> Unborn::open_by_itself(
    Tid child, const std::shared_ptr<AddressSpace>& creators) {
  if (const uint64_t at = call_behind(*creators, child); at != 0) creators->system_call_at = at;
  Process& process = core_.threads.add_process(child, creators);
  process.hidden = process.attached = true;
  Thread& thread = core_.threads.add_thread(process, child);
  thread.fresh = false;
  const auto call = [&](uint64_t what, uint64_t value) {
    return core_.injector.system_call(
        thread, {system_calls(creators->is_32_bit).prctl, what, value, 0, 0, 0, 0});
  };
  Result<std::shared_ptr<AddressSpace>> out =
      Error{Errc::Target, fmt::format("memory of process {} may not be opened", child), {}};
  if (const auto made = call(PR_SET_DUMPABLE, 1); !made.ok()) out = made.error();
  else if (*made == 0) out = AddressSpace::open(child);
  // Not that which allows root to see a core file of it (2): no program may set that.
  if (thread.run == Run::Stopped) best_effort(call(PR_SET_DUMPABLE, 0));
  if (core_.threads.find(child) != &thread || thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("process {} is gone, or waits in the kernel", child)};
  const int status = thread.status;
  core_.threads.remove_process(child);
  note(child, status);
  return out;
}

Result<std::shared_ptr<AddressSpace>> Unborn::open_memory(
    Tid child, const std::shared_ptr<AddressSpace>& creators, bool wanted) {
  auto own = AddressSpace::open(child);
  if (own.ok() || !may_not_be_opened(child)) return own;
  const auto has_traps = [](const auto& one) { return one.second->space->has_left_traps(); };
  const auto& processes = core_.threads.processes();
  const bool is_clean = creators != nullptr
                            ? !creators->has_left_traps()
                            : std::ranges::none_of(processes, has_traps) && gone_.empty();
  if (!wanted && is_clean) return std::make_shared<AddressSpace>();
  if (wanted ? !await_first_stop(child) : !waiting_.contains(child)) return own;
  if (creators != nullptr) own = open_by_itself(child, creators);
  if (own.ok() || wanted || !waiting_.contains(child)) return own;
  if (core_.options.notice)
    core_.options.notice(fmt::format(
        "process {}, a fork of a traced program, is let go with the traps of tracepoints and "
        "breakpoints that it has inherited: it lets nobody look into its memory (prctl "
        "PR_SET_DUMPABLE), and {}", child, own.error().message));
  return std::make_shared<AddressSpace>();
}

}  // namespace tracewell::target::live
