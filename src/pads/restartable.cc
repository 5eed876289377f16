#include "pads/restartable.h"

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

std::vector<Range> restartable_sequences(Range code, const ReadCode& read_code,
                                         std::span<const Area> data) {
  std::vector<Range> found;
  for (const Area& area : data) {
    uint64_t at = -area.address % kDescriptorBytes;
    for (; at + kDescriptorBytes <= area.bytes.size(); at += kDescriptorBytes) {
      const Bytes one = area.bytes.subspan(at, kDescriptorBytes);
      if ((word(one, 0) & ~kFlags) != 0) continue;
      const uint64_t start = word(one, kStartAt), length = word(one, kLengthAt);
      const uint64_t abort = word(one, kAbortAt);
      if (!code.holds(start) || length > code.end - start || !code.holds(abort) ||
          abort - code.start < kSignatureBytes ||
          read_code(abort - kSignatureBytes) != kSignature)
        continue;
      found.push_back({start, start + length});
      found.push_back({abort - kSignatureBytes, abort});
    }
  }
  return found;
}

std::vector<Range> restartable_sequences(const Area& code, std::span<const Area> data) {
  const auto read = [&](uint64_t address) {
    const uint8_t* const at = code.bytes.data() + (address - code.address);
    return static_cast<uint32_t>(load_uint(at, kSignatureBytes, Endian::Little));
  };
  return restartable_sequences({code.address, code.address + code.bytes.size()}, read, data);
}

}  // namespace tracewell::pads
