// FakeTarget: threads that stand at a tracepoint site.
#include <algorithm>

#include "target/fake/fake_target.h"

namespace tracewell::target {

class FakeHit final : public HitContext {
 public:
  FakeHit(FakeTarget& target, FakeTarget::Thread& thread) : target_(target), thread_(thread) {}

  Pid pid() const override { return thread_.info.pid; }
  Tid tid() const override { return thread_.info.tid; }
  uint64_t pc() const override {
    const Register* reg = target_.layout_.pc();
    return reg ? load_uint(thread_.block.data() + reg->offset, reg->size_bytes, Endian::Little) : 0;
  }
  bool read_register(uint32_t number, uint64_t& value) override {
    const Register* reg = target_.layout_.by_number(number);
    if (!reg || reg->size_bytes > 8) return false;
    value = load_uint(thread_.block.data() + reg->offset, reg->size_bytes, Endian::Little);
    return true;
  }
  Bytes registers() override { return thread_.block; }
  void read_memory(std::span<Range> ranges) override {
    for (Range& range : ranges)
      range.got = target_.read_memory(pid(), range.address, range.into);
  }

 private:
  FakeTarget& target_;
  FakeTarget::Thread& thread_;
};

void FakeTarget::set_pc(Thread& thread, uint64_t address) {
  if (const Register* pc = layout_.pc())
    store_uint(thread.block.data() + pc->offset, address, pc->size_bytes, Endian::Little);
}

std::optional<StopEvent> FakeTarget::trap(Thread& thread, Breakpoints::Kind kind,
                                          uint64_t address) {
  set_pc(thread, address);
  const Pid pid = thread.info.pid;
  if (filter_ && filter_->decides(pid, kind, address)) {
    FakeHit context(*this, thread);
    if (!filter_->tell(context, kind)) return std::nullopt;
  }
  using Stop = StopEvent::Kind;
  return StopEvent{.kind = kind == Breakpoints::Kind::Hardware ? Stop::Hardware : Stop::Breakpoint,
                   .pid = pid, .tid = thread.info.tid, .path = {}};
}

void FakeTarget::hit(Thread& thread, std::span<const uint64_t> pcs) {
  const Register* pc = layout_.pc();
  if (!handler_ || pcs.empty() || !pc) return;
  // Where nothing is inserted, nobody is caught.
  if (sites_.count({thread.info.pid, pcs[0]}) == 0) return;
  FakeHit context(*this, thread);
  set_pc(thread, pcs[0]);
  HitHandler::Next next = handler_->on_hit(context);
  for (uint64_t address : pcs.subspan(1)) {
    if (next != HitHandler::Next::Step) break;
    set_pc(thread, address);
    next = handler_->on_step(context);
  }
}

}  // namespace tracewell::target
