// Entry: what a template is rendered over. Any event can be turned into one (event_entry.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"

namespace tracewell::report {

/// What a stored entry has behind its data, in bytes: thread and time. The length in a 64-bit hook
/// word counts them, as the length that IBM shows does.
inline constexpr uint64_t kStoredBehind = 16;

/// A view; whoever makes it keeps what it points at alive while it is rendered.
struct Entry {
  /// The entry in the layout of its own environment: hook word (4 or 8 bytes), then the data words,
  /// or one data word and the variable bytes. No thread, no time.
  Bytes buffer;
  Endian endian = Endian::Little;  // of the numbers in the buffer
  uint8_t environment_bits = 64;   // 32 or 64
  bool generic = false;
  bool facility = true;          // hooks 000 to 00F are the facility's own
  uint16_t hook = 0;             // four hex digits: 0x0100 is hook 010
  uint16_t subhook = 0;          // as the program gave it
  uint16_t type = 0x8000;        // 32: the type's four bits; 64: the flags
  uint32_t data_bytes = 0;       // of the data words; generic: of the variable bytes alone
  uint64_t stored_hookword = 0;  // as the log has it, for the raw form
  uint64_t tid = 0, pid = 0;     // 0 = not known
  int32_t cpu = -1;              // -1 = not known
  uint64_t priority = 0;
  int64_t time_ns = 0;
  uint64_t log_offset = 0;                     // of the entry in its log, in bytes
  std::string_view process_path, system_call;  // "" = not known

  /// The other half of the hook word: the subhook, but for generic 32-bit entries, which have their
  /// length there.
  uint16_t hook_data() const {
    return environment_bits == 32 && generic ? static_cast<uint16_t>(data_bytes) : subhook;
  }
  size_t word_bytes() const { return environment_bits == 32 ? 4 : 8; }
  /// Where the data pointer begins, in bytes.
  size_t first_byte() const { return environment_bits == 64 ? 6 : generic ? 4 : 2; }
  /// `size` bytes (1..8) at `offset` as a number in the log's byte order; 0 when they are not
  /// there.
  uint64_t number_at(size_t offset, size_t size) const {
    if (offset > buffer.size() || size > buffer.size() - offset) return 0;
    return load_uint(buffer.data() + offset, size, endian);
  }
  /// Data word `index`, from 1; 0 when the entry has not so many.
  uint64_t word(size_t index) const { return number_at(index * word_bytes(), word_bytes()); }
};

/// Paths of processes, for the code P4 (the entry's own is in it).
class ProcessPaths {
 public:
  virtual ~ProcessPaths() = default;
  /// "" = not known. Lives until the next event is taken from the log.
  virtual std::string_view path_of(uint64_t pid) const = 0;
};

/// What holds for a log.
struct LogFacts {
  std::string name;
  std::string component;  // whose hooks alone it has; "" = no log of a component
  uint8_t kernel_bits = 64;
  uint32_t cpus = 0, traced_cpus = 0, reported_cpus = 0;
  uint32_t buffers = 0;  // 1 = heap, 2 = segments of their own
  uint32_t address = 0;  // IPv4, first byte on top
  const ProcessPaths* paths = nullptr;
};

}  // namespace tracewell::report
