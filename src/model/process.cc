#include "model/process.h"

#include <fmt/format.h>

#include "base/text/hex.h"

namespace tracewell {
namespace {

constexpr size_t kHalfDigits = 16;

/// FNV-1a of 64 bits: the same on all machines, and for ever.
class IdentityHash {
 public:
  explicit IdentityHash(uint64_t seed) : value_(0xcbf29ce484222325 ^ seed) {}
  void add(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add(static_cast<uint8_t>(number >> shift));
  }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<uint8_t>(c));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_;
};

}  // namespace

std::string process_id_text(const ProcessId& id) {
  return fmt::format("{:016x}{:016x}", id.high, id.low);
}

std::optional<ProcessId> parse_process_id(std::string_view text) {
  if (text.size() != 2 * kHalfDigits) return std::nullopt;
  const auto high = parse_hex(text.substr(0, kHalfDigits));
  const auto low = parse_hex(text.substr(kHalfDigits));
  if (!high || !low) return std::nullopt;
  return ProcessId{*high, *low};
}

std::optional<ProcessId> identity_of(const Process& process) {
  if (process.id) return process.id;
  if (process.boot.empty() || process.pid == 0 || !process.start_ns) return std::nullopt;
  const auto half = [&](uint64_t seed) {
    IdentityHash hash(seed);
    hash.add(process.boot);
    hash.add(uint64_t{process.pid});
    hash.add(*process.start_ns);
    return hash.value();
  };
  return ProcessId{half(0), half(1)};
}

}  // namespace tracewell
