// A thread ran into an int3. This is the path whose time counts: waitpid, siginfo, registers, what
// the handler collects, the pc, go on.
#include "target/linux/stops/decider.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/register_blocks.h"

namespace tracewell::target::live {

class Decider::Hit final : public HitContext {
 public:
  Hit(Decider& decider, Thread& thread, uint64_t pc)
      : decider_(decider), registers_(decider.core_.registers), thread_(thread), pc_(pc) {}

  Pid pid() const override { return thread_.process->pid; }
  Tid tid() const override { return thread_.tid; }
  uint64_t pc() const override { return pc_; }
  std::optional<int64_t> processor() override { return last_processor(thread_.tid); }
  bool read_register(uint32_t number, uint64_t& value) override;
  Bytes registers() override;
  void read_memory(std::span<Range> ranges) override;

 private:
  void read_some(std::span<Range> ranges);
  void read_rest(Range& range);

  Decider& decider_;
  RegisterBlocks& registers_;
  Thread& thread_;
  uint64_t pc_;
  bool have_block_ = false;
};

bool Decider::Hit::read_register(uint32_t number, uint64_t& value) {
  const RegisterMap& map = registers_.map_of(*thread_.process);
  if (map.general(regs_of(thread_), number, value)) return true;
  const Register* reg = map.layout().by_number(number);
  if (reg == nullptr || reg->size_bytes > 8) return false;
  value = load_uint(registers().data() + reg->offset, reg->size_bytes, Endian::Little);
  return true;
}

Bytes Decider::Hit::registers() {
  std::vector<uint8_t>& block = decider_.block_;
  if (have_block_) return block;
  const RegisterMap& map = registers_.map_of(*thread_.process);
  block.resize(map.layout().size_bytes);
  auto xsave = registers_.read_xsave(thread_);
  map.to_block(regs_of(thread_), xsave.ok() ? *xsave : Bytes{}, block);
  have_block_ = true;
  return block;
}

/// The memory file also reads what the program itself may not, and waits for no thread of the
/// program. Ranges that are in one page, as variables of a function mostly are, are read at once.
void Decider::Hit::read_some(std::span<Range> ranges) {
  constexpr uint64_t kPage = 4096;
  std::array<uint8_t, kPage> bytes;
  const AddressSpace& space = *thread_.process->space;
  while (!ranges.empty()) {
    const uint64_t page = ranges[0].address / kPage * kPage;
    uint64_t begin = kPage, end = 0;  // in the page
    size_t count = 0;
    for (; count < ranges.size(); ++count) {
      const uint64_t at = ranges[count].address - page, size = ranges[count].into.size();
      if (at >= kPage || size > kPage - at) break;
      begin = std::min(begin, at);
      end = std::max(end, at + size);
    }
    if (count < 2) {
      ranges[0].got = space.read_raw(ranges[0].address, ranges[0].into);
      count = 1;
    } else {
      const size_t got = space.read_raw(page + begin, std::span(bytes).first(end - begin));
      for (Range& range : ranges.first(count)) {
        const uint64_t at = range.address - page - begin;
        range.got = std::min(range.into.size(), got - std::min(got, at));
        std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), range.got, range.into.begin());
      }
    }
    for (Range& range : ranges.first(count)) read_rest(range);
    ranges = ranges.subspan(count);
  }
}

void Decider::Hit::read_rest(Range& range) {
  if (range.got == range.into.size()) return;
  range.got += decider_.late_pages_.read(thread_.tid, range.address + range.got,
                                        range.into.subspan(range.got));
}

void Decider::Hit::read_memory(std::span<Range> ranges) {
  if (thread_.process->space->is_32_bit)  // whose sums of addresses leave out the carry
    for (Range& range : ranges) range.address = static_cast<uint32_t>(range.address);
  read_some(ranges);
  for (Range& range : ranges)
    thread_.process->space->hide_patches(range.address, range.into.first(range.got));
}

bool Decider::filtered(Thread& thread, Breakpoints::Kind kind, uint64_t address) const {
  const BreakpointFilter* const filter = core_.wishes.filter;
  return filter != nullptr && filter->decides(thread.process->pid, kind, address);
}

bool Decider::filter_tells(Thread& thread, Breakpoints::Kind kind, uint64_t address) {
  if (!filtered(thread, kind, address)) return true;
  Hit hit(*this, thread, address);
  return core_.wishes.filter->tell(hit, kind);
}

Decision Decider::on_int3(Thread& thread, bool parking) {
  AddressSpace& space = *thread.process->space;
  SingleStep* const step = thread.doing.step();
  const bool programs_own = step != nullptr && std::exchange(step->programs_int3, false);
  thread.doing.enters_no_handler();
  const uint64_t pc = regs_of(thread).rip - 1;
  Patch* patch = programs_own ? nullptr : space.find(pc);
  if (patch == nullptr) {
    if (const auto entry = space.fast && !programs_own ? space.fast->redirected(SIGTRAP, pc)
                                                       : std::nullopt) {
      set_pc(thread, *entry);
      return {};
    }
    uint8_t byte = 0;
    const bool present = space.read_raw(pc, {&byte, 1}) == 1 && byte == AddressSpace::kInt3;
    if (programs_own || present) return on_signal(thread, SIGTRAP);
    set_pc(thread, pc);  // ours, taken out while the thread ran into it
    return {};
  }
  set_pc(thread, pc);
  constexpr auto kSoftware = Breakpoints::Kind::Software;
  const bool counted = thread.counted.site() == pc;
  const bool decided = counted && thread.counted.decided();
  thread.counted.forget();
  if (parking) {  // it will run into it again
    if (counted) thread.counted.count(pc, decided);
    if (patch->breakpoint && !patch->site && thread.resumed && seen(*thread.process) &&
        !filtered(thread, kSoftware, pc))
      core_.untold.rivals.push_back(thread.tid);
    return {};
  }
  if (patch->site && !counted && core_.wishes.handler != nullptr && seen(*thread.process)) {
    Hit hit(*this, thread, pc);
    thread.trace_step = core_.wishes.handler->on_hit(hit) == HitHandler::Next::Step;
    core_.stepper.forget_handler(thread);
    patch = space.find(pc);
    if (patch == nullptr) return {};
  }
  const bool tell = patch->breakpoint && seen(*thread.process) && !decided &&
                    filter_tells(thread, kSoftware, pc);
  if (patch->site || !tell) thread.counted.count(pc, patch->breakpoint && !tell);
  if (!tell) return {};
  StopEvent event = event_of(StopEvent::Kind::Breakpoint, thread);
  event.address = pc;
  return {0, event};
}

namespace {

/// A signal came to a thread at a fast site whose hit was counted already, and no handler ran: what
/// it stepped is the site's jump. To count the hit again would take as long as until the next such
/// signal may come, for ever.
void pass_slot(Thread& thread) {
  const auto here = thread.counted.here();
  if (!here || here != thread.doing.step()->from) return;
  const auto behind = thread.process->space->fast->behind_slot(*here);
  thread.counted.drop();
  if (behind) set_pc(thread, *behind);
}

}  // namespace

Decision Decider::on_step(Thread& thread, int code, bool parking) {
  AddressSpace& space = *thread.process->space;
  const bool entering = std::exchange(thread.doing.step()->enters_handler, false);
  if (entering && code == SIGTRAP) core_.stepper.handler_entered(thread);
  thread.call.reset();
  if (thread.doing.site_call() != nullptr) core_.stepper.call_left(thread);
  const std::optional<uint64_t> from = thread.doing.step()->from;
  user_regs_struct& now = regs_of(thread);
  if (std::exchange(thread.doing.step()->pushes_flags, false)) {
    if (auto pushed = space.read_value<uint16_t>(now.rsp)) {
      const uint16_t clean = *pushed & ~0x100;
      best_effort(space.write(now.rsp, {reinterpret_cast<const uint8_t*>(&clean), 2}));
    }
  }
  if (space.fast && space.fast->inside(now.rip)) {
    if (entering && code != SIGTRAP) pass_slot(thread);
    // Through the slot to the instruction itself, and then behind that.
    if (!space.fast->place_of(now.rip)->exact && !core_.leading_out.leave(thread)) return {};
    const auto place = space.fast->place_of(regs_of(thread).rip);
    if (place && !place->done && place->pc == from) {
      if (!parking) core_.starter.start(thread, true, 0);
      return {};
    }
    core_.leading_out.settle(thread);
  }
  if (const PlacedCopy* copy = space.copy_at(now.rip)) {
    const machine::CopyPoint* point = copy->code.find(now.rip - copy->at);
    if (point != nullptr && !point->done && point->offset != 0) {  // half way
      if (!parking) core_.starter.start(thread, true, 0);
      return {};
    }
    core_.leading_out.settle(thread);
  }
  // A step that a call ends elsewhere than behind it was rt_sigreturn's. Handlers that never return
  // (longjmp) stay in the list, and a step may come to their site like any other.
  constexpr uint64_t kCallBytes = 2;
  if (code == TRAP_BRKPT && (!from || regs_of(thread).rip != *from + kCallBytes))
    core_.stepper.returned_to_site(thread);
  std::optional<StopEvent> watch = watch_event(thread);
  if (thread.trace_step && core_.wishes.handler != nullptr && seen(*thread.process)) {
    Hit step(*this, thread, regs_of(thread).rip);
    thread.trace_step = core_.wishes.handler->on_step(step) == HitHandler::Next::Step;
  }
  if (watch) return {0, watch};
  if (!thread.resumed || thread.action == ResumeAction::Kind::Continue) return {};
  const uint64_t pc = regs_of(thread).rip;
  const bool within = thread.action == ResumeAction::Kind::RangeStep &&
                      pc >= thread.range_start && pc < thread.range_end;
  if (within) return {};
  StopEvent event = event_of(StopEvent::Kind::Stepped, thread);
  return {0, event};
}

}  // namespace tracewell::target::live
