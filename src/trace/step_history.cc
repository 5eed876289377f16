#include "trace/step_history.h"

#include <algorithm>
#include <variant>

namespace tracewell::trace {
namespace {

using timeline::AddressRange;

constexpr uint64_t kOpcodeBytesMax = 15;
constexpr size_t kMemoryPiece = 1024;  // between two looks whether it is wanted

uint8_t kinds_of(target::History::Touch how) {
  using Touch = target::History::Touch;
  return how == Touch::Write  ? timeline::kWrites
         : how == Touch::Read ? timeline::kReads
                              : timeline::kAccesses;
}

AddressRange range(uint64_t address, uint64_t size) {
  const uint64_t reach = size == 0 ? 0 : size - 1;
  return {address, address > UINT64_MAX - reach ? UINT64_MAX : address + reach};
}

bool is_of(Step::MemoryAccess::Kind kind, target::History::Touch how) {
  using Kind = Step::MemoryAccess::Kind;
  if (kind == Kind::Nearby) return false;
  return kind == Kind::ReadWrite || how == target::History::Touch::Any ||
         (how == target::History::Touch::Write) == (kind == Kind::Write);
}

}  // namespace

Result<StepHistory> StepHistory::open(StepTrace trace) {
  TW_ASSIGN_OR_RETURN(StepReader reader, trace.reader());
  return StepHistory(std::move(trace), std::move(reader));
}

/// A debugger with several watchpoints knows by the address which of them it was.
std::optional<target::History::Touched> StepHistory::touched(std::optional<uint64_t> step,
                                                             uint64_t address, uint64_t size,
                                                             Touch how) {
  if (!step) return std::nullopt;
  const AddressRange watched = range(address, size);
  uint64_t first = watched.last;
  const auto event = reader_.step(*step);
  if (!event) return Touched{*step, address};
  for (const Step::MemoryAccess& one : std::get<Step>((*event)->body).memory) {
    const AddressRange bytes = range(one.address, one.size);
    if (is_of(one.kind, how) && bytes.first <= watched.last && bytes.last >= watched.first)
      first = std::min(first, std::max(bytes.first, watched.first));
  }
  return Touched{*step, first};
}

std::vector<uint64_t> StepHistory::threads() {
  std::vector<uint64_t> out = trace_.timeline->threads_as_they_came();
  // Of a recorder that knew no threads, all steps are of one.
  if (out.empty()) out.push_back(0);
  return out;
}

Status StepHistory::before(uint64_t step, StepIndex::Moment& moment) {
  // Who stops here has come by the index.
  TW_RETURN_IF_ERROR(trace_.answers_hold());
  return reader_.source().steps()->state_before(step, moment);
}

Status StepHistory::read_memory(uint64_t step, uint64_t address, std::span<uint8_t> into,
                                std::span<ByteState> states) {
  // What is kept is likely, and without it no debugger would see a frame behind a system call.
  for (size_t at = 0; at < into.size() && address + at >= address; at += kMemoryPiece) {
    if (gives_up()) return {Errc::Target, "the server is to end"};
    const size_t size = std::min(kMemoryPiece, into.size() - at);
    trace_.timeline->memory(step, address + at, into.subspan(at, size), states.subspan(at, size));
  }
  TW_RETURN_IF_ERROR(trace_.answers_hold());
  TW_RETURN_IF_ERROR(read_next(step, address, into, states));
  return read_code(step, address, into, states);
}

/// What is executed next is there, whatever else is told of these bytes.
Status StepHistory::read_next(uint64_t step, uint64_t address, std::span<uint8_t> into,
                              std::span<ByteState> states) {
  TW_ASSIGN_OR_RETURN(const Event* event, reader_.step(step));
  const Step& next = std::get<Step>(event->body);
  for (size_t i = 0; i < next.opcode.size(); ++i) {
    const uint64_t at = next.pc + i - address;  // large when it is before
    if (at >= into.size()) continue;
    into[at] = next.opcode[i];
    states[at] = ByteState::Told;
  }
  return {};
}

/// The last time that an instruction was executed at `pc` until now, unless its bytes were written
/// since; else the next time, if nobody can have written them in between. Its opcode, until the
/// next question; nothing: nobody knows what was there.
Result<Bytes> StepHistory::code_at(uint64_t pc, uint64_t step) {
  const timeline::Timeline& timeline = *trace_.timeline;
  const auto [first, end] = timeline.stretch_of(std::min(step, timeline.steps()));
  if (const auto last = timeline.last_execution({pc, pc}, step + 1); last && *last >= first) {
    TW_ASSIGN_OR_RETURN(const Event* event, reader_.step(*last));
    const Bytes opcode = std::get<Step>(event->body).opcode;
    const auto written = timeline.last_access(range(pc, opcode.size()), timeline::kWrites, step);
    if (!written || *written < *last) return opcode;
  }
  const auto next = timeline.next_execution({pc, pc}, step);
  if (!next || *next >= end || !timeline.sealed(step, *next)) return Bytes();
  TW_ASSIGN_OR_RETURN(const Event* event, reader_.step(*next));
  const Bytes opcode = std::get<Step>(event->body).opcode;
  const auto written = timeline.next_access(range(pc, opcode.size()), timeline::kWrites, step);
  return written && *written < *next ? Bytes() : opcode;
}

/// Fills in what is not known yet. Where instructions overlap, the one that begins later wins.
Status StepHistory::read_code(uint64_t step, uint64_t address, std::span<uint8_t> into,
                              std::span<ByteState> states) {
  if (std::ranges::find(states, ByteState::Unknown) == states.end()) return {};
  AddressRange pcs = range(address, into.size());
  pcs.first -= std::min(pcs.first, kOpcodeBytesMax - 1);
  const std::vector<uint64_t> executed = trace_.timeline->executed(pcs);
  for (size_t i = 0; i < into.size(); ++i) {
    if (states[i] != ByteState::Unknown) continue;
    const uint64_t wanted = address + i;
    for (auto pc = std::ranges::upper_bound(executed, wanted); pc != executed.begin();) {
      const uint64_t back = wanted - *--pc;
      if (back >= kOpcodeBytesMax) break;
      // Each of them is looked for in the whole run.
      if (gives_up()) return {Errc::Target, "the server is to end"};
      TW_ASSIGN_OR_RETURN(const Bytes opcode, code_at(*pc, step));
      if (opcode.size() <= back) continue;
      for (size_t at = back; at < opcode.size() && i + at - back < into.size(); ++at) {
        if (states[i + at - back] != ByteState::Unknown) continue;
        into[i + at - back] = opcode[at];
        states[i + at - back] = ByteState::Inferred;
      }
      break;
    }
  }
  return {};
}

std::optional<uint64_t> StepHistory::next_execution(uint64_t pc, uint64_t from) {
  return trace_.timeline->next_execution({pc, pc}, from);
}

std::optional<uint64_t> StepHistory::last_execution(uint64_t pc, uint64_t before) {
  return trace_.timeline->last_execution({pc, pc}, before);
}

std::optional<target::History::Touched> StepHistory::next_touch(uint64_t address, uint64_t size,
                                                                Touch how, uint64_t from) {
  return touched(trace_.timeline->next_access(range(address, size), kinds_of(how), from), address,
                 size, how);
}

std::optional<target::History::Touched> StepHistory::last_touch(uint64_t address, uint64_t size,
                                                                Touch how, uint64_t before) {
  return touched(trace_.timeline->last_access(range(address, size), kinds_of(how), before), address,
                 size, how);
}

std::optional<uint64_t> StepHistory::next_of_thread(uint64_t thread, uint64_t from) {
  return trace_.timeline->next_step_of(thread, from);
}

std::optional<uint64_t> StepHistory::last_of_thread(uint64_t thread, uint64_t before) {
  return trace_.timeline->last_step_of(thread, before);
}

}  // namespace tracewell::trace
