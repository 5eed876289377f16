#include "target/linux/sites/trap_sites.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/code_facts.h"

namespace tracewell::target::live {

void TrapSites::make_way(Process& process, uint64_t address) {
  FastCode* const fast = process.space->fast.get();
  if (fast == nullptr) return;
  const std::vector<uint64_t> sites = fast->sites_around(address, 1);
  if (sites.empty()) return;
  const LiveFastSites::Still still(fast_);
  for (const uint64_t site : sites) fast->remove(site);
  for (const uint64_t site : sites) {
    const Status trap = insert(process.pid, site);
    if (!trap && core_.options.notice)
      core_.options.notice(
          fmt::format("Lost the tracepoint at {:#x}: {}", site, trap.error().text()));
  }
}

Status TrapSites::insert(Pid pid, uint64_t address) {
  Process* process = core_.threads.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  AddressSpace& space = *process->space;
  // A leader that has ended has no memory any more.
  const Thread* const lives = core_.threads.first_thread(pid);
  const std::vector<Mapping> maps = mappings(lives != nullptr ? lives->tid : pid, core_.gives_up);
  if (maps.empty()) return {Errc::Target, "what it has mapped cannot be read"};
  const auto map = std::ranges::find_if(
      maps, [&](const Mapping& one) { return address >= one.start && address < one.end; });
  // A breakpoint's byte in data changes what the program computes, one in the middle of an
  // instruction makes another of it.
  if (map != maps.end() && !map->executable && !space.was_code.contains(address))
    return {Errc::Unsupported, fmt::format("there is no code at {:#x}", address)};
  if (is_shared(maps, address))
    return {Errc::Unsupported,
            fmt::format("the code at {:#x} is in memory that other processes may share, and they "
                        "would run into it, too", address)};
  if (space.fast && space.fast->splits_instruction(address))
    return {Errc::Unsupported, fmt::format("no instruction begins at {:#x}", address)};
  TW_ASSIGN_OR_RETURN(
      const bool would_begin_anew,
      in_restartable_sequence(space, space.sequences, maps, address, core_.gives_up));
  if (would_begin_anew)
    return {Errc::Unsupported,
            "it is in a restartable sequence (rseq), or begins one: a stop would do that anew"};
  make_way(*process, address);
  TW_ASSIGN_OR_RETURN(Patch * patch, space.add(address));
  space.was_code.insert(address);
  patch->site = true;
  if (patch->how) return {};
  if (Thread* thread = core_.injector.injectable(space))
    core_.stepper.prepare_copy(*thread, address, *patch);
  return {};
}

Status TrapSites::remove(Pid pid, uint64_t address) {
  Process* process = core_.threads.find_process(pid);
  if (process == nullptr) return {};
  AddressSpace& space = *process->space;
  Patch* const patch = space.find(address);
  if (patch == nullptr) return {};
  const bool is_in_force = space.is_in_force(address);
  patch->site = false;
  TW_RETURN_IF_ERROR(space.drop_if_unused(address));
  if (!is_in_force) return {Errc::Target, "the code there is not what it was"};
  return {};
}

}  // namespace tracewell::target::live
