// Process: who ran what a trace tells of. A pid is used again; this is not.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracewell {

/// 128 bits that no other process of any machine has.
struct ProcessId {
  uint64_t high = 0, low = 0;
  auto operator<=>(const ProcessId&) const = default;
};

/// 32 hexadecimal digits.
std::string process_id_text(const ProcessId& id);
std::optional<ProcessId> parse_process_id(std::string_view text);

struct Process {
  std::optional<ProcessId> id = {};       // as it was recorded
  uint32_t pid = 0;                       // in its own PID namespace; 0 = not known
  std::optional<uint64_t> start_ns = {};  // since its machine was booted
  uint32_t parent = 0;                    // as Event::process is; 0 = not known
  // Empty when they are not known.
  std::string host = {};
  std::string boot = {};   // which boot of the machine: its boot id, or the head of it
  std::string image = {};  // path of the program that it runs
  bool operator==(const Process&) const = default;
};

/// Its id; without one, what boot, pid and start make up. nullopt: who it is is not known.
std::optional<ProcessId> identity_of(const Process& process);

/// Of one trace, so many processes are told apart: Event::process is at most this.
inline constexpr uint32_t kProcessesMax = 1 << 20;

}  // namespace tracewell
