// How hits of a tracepoint are collected, why so, what a hit costs the program, and what became of
// hits that have no frame: values, and the words for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "target/trap_reason.h"

namespace tracewell::agent {

/// Classes of cost that differ by far; what each costs was measured (docs/protocol/tracing.md).
enum class HitCost : uint8_t {
  Memory,     // a pad that collects memory and variables, by loads
  Registers,  // a pad that collects registers as well
  Calls,      // a pad that reads memory that it does not know by system calls
  Stop,       // a trap
};
/// "about 15 us a hit"
std::string_view text_of(HitCost cost);

struct HitWay {
  enum class Kind : uint8_t { Unknown, Pad, Trap };
  Kind kind = Kind::Unknown;
  HitCost cost = HitCost::Stop;
  target::TrapReason reason = target::TrapReason::None;  // of a trap
  std::string why;                                       // the same in words; "" of a pad

  static HitWay pad(HitCost cost) { return {Kind::Pad, cost, target::TrapReason::None, {}}; }
  static HitWay trap(const Error& why);
  bool operator==(const HitWay&) const = default;
};

/// "a pad, about 0.02 us a hit", or "a trap, about 15 us a hit: it steps".
std::string text_of(const HitWay& way);

struct PointWay {
  uint32_t number = 0;
  HitWay way;
};
/// Of all of them, those alike together: "tracepoints 1-3, 7: pads, about 0.02 us a hit; …". As
/// long as a few lines at most. "" where nothing is known of any.
std::string text_of(std::span<const PointWay> points);

/// Hits of pads that were not recorded, or whose records were lost, by reason.
struct HitLosses {
  uint64_t no_room = 0;     // the thread's ring was full, and the server did not read it in time
  uint64_t shared = 0;      // the same of a ring that several threads share
  uint64_t too_large = 0;   // records that did not fit what was reserved for them
  uint64_t unfinished = 0;  // of threads that were killed, or stood still, in the hit
  uint64_t spoiled = 0;     // the program has written over them; at least so many
  uint64_t left = 0;        // the server had to end before it could take them; at least so many

  uint64_t all() const { return no_room + shared + too_large + unfinished + spoiled + left; }
  HitLosses& operator+=(const HitLosses& other);
};
/// "hits lost: 10 waited in vain for room in their thread's ring, 2 …"; "" where none was.
std::string text_of(const HitLosses& losses);

}  // namespace tracewell::agent
