// qTBuffer's stream of a recorded trace: its frames, encoded anew one by one. Nothing is kept but
// the place of every kMarkEvery-th frame, because a trace may be larger than memory.
#include <algorithm>

#include "agent/recorded/recorded_trace.h"
#include "rsp/frames.h"

namespace tracewell::agent {
namespace {

/// Bytes of a frame in the stream. A frame that does not fit the stream's numbers takes none.
uint64_t stream_size(const Frame& frame) {
  const bool fits =
      frame.tracepoint != 0 && frame.tracepoint == static_cast<int16_t>(frame.tracepoint);
  const uint64_t size = rsp::encoded_size(frame.blocks);
  return fits && size <= UINT32_MAX ? rsp::kFrameHeaderBytes + size : 0;
}

}  // namespace

void RecordedTrace::measure_stream() const {
  uint64_t at = 0;
  uint64_t number = 0;
  for (; number < count(); ++number) {
    auto frame = loaded(number);
    if (!frame) break;  // the file was cut after it was opened
    if (number % kMarkEvery == 0) marks_.push_back(at);
    at += stream_size(*frame);
  }
  stream_frames_ = number;
  stream_bytes_ = at;
}

uint64_t RecordedTrace::stream_bytes() const {
  if (!stream_bytes_) measure_stream();
  return *stream_bytes_;
}

Result<std::vector<uint8_t>> RecordedTrace::read_stream(uint64_t offset, size_t size) {
  std::vector<uint8_t> out;
  if (offset >= stream_bytes()) return out;
  size = std::min<uint64_t>(size, *stream_bytes_ - offset);
  const auto mark = std::upper_bound(marks_.begin(), marks_.end(), offset) - 1;
  uint64_t at = *mark;
  for (uint64_t number = (mark - marks_.begin()) * kMarkEvery;
       number < stream_frames_ && out.size() < size; ++number) {
    TW_ASSIGN_OR_RETURN(const Frame frame, loaded(number));
    const uint64_t bytes = stream_size(frame);
    const uint64_t wanted = offset + out.size();
    if (at + bytes > wanted) {
      TW_RETURN_IF_ERROR(encode_stream_frame(number, frame));
      const uint64_t skip = wanted - at;
      const size_t take = std::min<uint64_t>(encoded_.size() - skip, size - out.size());
      out.insert(out.end(), encoded_.begin() + skip, encoded_.begin() + skip + take);
    }
    at += bytes;
  }
  return out;
}

/// A client fetches a large frame in small pieces, so the last one encoded is kept.
Status RecordedTrace::encode_stream_frame(uint64_t number, const Frame& frame) {
  if (encoded_number_ == number) return {};
  encoded_number_.reset();
  encoded_.clear();
  TW_RETURN_IF_ERROR(rsp::encode_frame(encoded_, frame.tracepoint, frame.blocks,
                                       source_.catalog().endian));
  encoded_number_ = number;
  return {};
}

}  // namespace tracewell::agent
