#include "agent/buffer/trace_source.h"

#include <vector>

namespace tracewell::agent {

namespace {
constexpr size_t kFramesPerBatch = 256;
constexpr size_t kBytesPerBatch = 1 << 20;
}  // namespace

Status TraceBufferSource::seek(uint64_t seq) {
  if (seq > buffer_.count()) return {Errc::NotFound, "there are not so many trace frames"};
  next_ = seq;
  return {};
}

Result<bool> TraceBufferSource::next(Batch& batch) {
  batch.clear();
  size_t bytes = 0;
  std::vector<FrameBlock> blocks;
  while (next_ < buffer_.count() && batch.size() < kFramesPerBatch && bytes < kBytesPerBatch) {
    TW_ASSIGN_OR_RETURN(Frame frame, buffer_.frame(next_));
    const FrameRecord record = buffer_.record(next_);
    blocks.assign(frame.blocks.begin(), frame.blocks.end());
    for (FrameBlock& block : blocks) {
      block.bytes = batch.copy(block.bytes);
      bytes += block.bytes.size();
    }
    frame.blocks = batch.copy_array(std::span<const FrameBlock>(blocks));
    frame.registers_valid = batch.copy(frame.registers_valid);
    Event& event = batch.add();
    event.seq = next_++;
    event.time_ns = record.time_ns;
    event.tid = static_cast<uint64_t>(record.tid);
    event.process = catalog_.processes.size() == 1 ? 1 : 0;
    event.body = frame;
  }
  return !batch.empty();
}

}  // namespace tracewell::agent
