#include <algorithm>

#include <fmt/format.h>

#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/memory/code_facts.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {

/// How to get past the patch. Called when a thread stands there, or ahead of that when one could
/// help; failing to map memory is no failure, the instruction is then stepped in place.
void Tracer::prepare_copy(Thread& thread, uint64_t address, Patch& patch) {
  using How = machine::DisplacedCode::How;
  AddressSpace& space = *thread.process->space;
  std::vector<uint8_t> original(AddressSpace::kInstructionMax);
  original.resize(space.read(address, original));
  patch.in_32_bit_code = in_32_bit_code(regs_of(thread));
  const auto displace =
      patch.in_32_bit_code ? machine::displace_i386 : machine::displace_x86_64;
  const machine::DisplacedCode in_place = displace(original, address, address);
  patch.how = in_place.how == How::SystemCall ? How::SystemCall : How::InPlace;
  // A program's code of the other kind is out of reach of where we map memory, or may be.
  if (in_place.how != How::Copy || patch.in_32_bit_code != space.is_32_bit) return;
  original.resize(in_place.length);
  if (const PlacedCopy* old = space.find_copy(address, original, patch.in_32_bit_code)) {
    patch.how = How::Copy;
    patch.copy = old->at;
    return;
  }
  Arena* arena = arenas_.near(thread, address);
  if (arena == nullptr) return;
  PlacedCopy copy;
  copy.site = address;
  copy.at = arena->start + arena->slots.size() * AddressSpace::kSlotBytes;
  copy.in_32_bit_code = patch.in_32_bit_code;
  copy.original = original;
  copy.code = displace(original, address, copy.at);
  if (copy.code.how != How::Copy || !space.write_raw(copy.at, copy.code.code).ok()) return;
  patch.how = How::Copy;
  patch.copy = copy.at;
  arena->slots.push_back(std::move(copy));
}

Status Tracer::insert_site(Pid pid, uint64_t address) {
  Process* process = threads_.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  AddressSpace& space = *process->space;
  // A leader that has ended has no memory any more.
  const Thread* const lives = threads_.first_thread(pid);
  const std::vector<Mapping> maps = mappings(lives != nullptr ? lives->tid : pid, gives_up);
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
  TW_ASSIGN_OR_RETURN(const bool would_begin_anew,
                      in_restartable_sequence(space, maps, address, gives_up));
  if (would_begin_anew)
    return {Errc::Unsupported,
            "it is in a restartable sequence (rseq), or begins one: a stop would do that anew"};
  fast_.make_way(*process, address);
  TW_ASSIGN_OR_RETURN(Patch * patch, space.add(address));
  space.was_code.insert(address);
  patch->site = true;
  if (patch->how) return {};
  if (Thread* thread = injector_.injectable(space)) prepare_copy(*thread, address, *patch);
  return {};
}

Status Tracer::remove_site(Pid pid, uint64_t address) {
  Process* process = threads_.find_process(pid);
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
