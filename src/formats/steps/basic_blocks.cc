#include "formats/steps/basic_blocks.h"

#include <algorithm>

#include "base/begin_anew.h"

namespace tracewell::formats {

void BasicBlocks::close(Open& open) {
  if (open.size != 0) found_(open.address, open.size);
  open = {};
}

void BasicBlocks::step(uint64_t tid, const Step& step) {
  const machine::FlowInstruction instruction = decoder_.decode(step.opcode);
  const bool known = instruction.length != 0;
  const uint32_t length =
      known ? instruction.length
            : static_cast<uint32_t>(std::clamp<size_t>(step.opcode.size(), 1, size_max_));
  Open& open = by_thread_[tid];
  if (!known || open.address + open.size != step.pc || open.size + length > size_max_) close(open);
  if (open.size == 0) open.address = step.pc;
  open.size += length;
  if (!known) ++undecoded_;
  if (!known || instruction.flow != machine::Flow::Onward) close(open);
}

void BasicBlocks::gap() {
  for (auto& [tid, open] : by_thread_) close(open);
  begin_anew(by_thread_);
}

}  // namespace tracewell::formats
