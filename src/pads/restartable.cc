#include "pads/restartable.h"

#include <algorithm>
#include <utility>

#include "base/endian.h"

namespace tracewell::pads {
namespace {

constexpr uint64_t kDescriptorBytes = 32, kStartAt = 8, kLengthAt = 16, kAbortAt = 24;
constexpr uint64_t kFlags = uint64_t{7} << 32;  // behind the version; of no effect since Linux 6.1
constexpr uint64_t kSignatureBytes = 4;
constexpr uint32_t kSignature = 0x53053053;  // RSEQ_SIG of x86

uint64_t word(Bytes bytes, uint64_t at) {
  return load_uint(bytes.data() + at, 8, Endian::Little);
}

}  // namespace

RestartableSequences::RestartableSequences(Range code, ReadCode read_code)
    : code_(code), read_code_(std::move(read_code)) {}

void RestartableSequences::look_at(const Area& data) {
  uint64_t at = -data.address % kDescriptorBytes;
  for (; at + kDescriptorBytes <= data.bytes.size() && !is_all_; at += kDescriptorBytes) {
    const Bytes one = data.bytes.subspan(at, kDescriptorBytes);
    if ((word(one, 0) & ~kFlags) != 0) continue;
    const uint64_t start = word(one, kStartAt), length = word(one, kLengthAt);
    const uint64_t abort = word(one, kAbortAt);
    if (!code_.holds(start) || length > code_.end - start || !code_.holds(abort) ||
        abort - code_.start < kSignatureBytes || read_code_(abort - kSignatureBytes) != kSignature)
      continue;
    ranges_.push_back({start, start + length});
    ranges_.push_back({abort - kSignatureBytes, abort});
    starts_.push_back(start);
    if (ranges_.size() >= settled_ + kRangesMax) settle();
  }
}

void RestartableSequences::settle() {
  std::ranges::sort(starts_);
  starts_.erase(std::ranges::unique(starts_).begin(), starts_.end());
  std::ranges::sort(ranges_, {}, &Range::start);
  std::vector<Range> apart;
  for (const Range& one : ranges_) {
    if (!apart.empty() && one.start <= apart.back().end)
      apart.back().end = std::max(apart.back().end, one.end);
    else
      apart.push_back(one);
  }
  ranges_ = std::move(apart);
  settled_ = ranges_.size();
  is_all_ = is_all_ || ranges_.size() > kRangesMax || starts_.size() > kRangesMax;
  if (!is_all_) return;
  ranges_ = {code_};
  starts_.clear();
}

const std::vector<Range>& RestartableSequences::ranges() {
  settle();
  return ranges_;
}

const std::vector<uint64_t>& RestartableSequences::starts() {
  settle();
  return starts_;
}

}  // namespace tracewell::pads
