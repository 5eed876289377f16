// What stands in an event's line before its text.
#pragma once

#include <cstdint>
#include <string_view>

#include "report/entry.h"
#include "report/render/line.h"

namespace tracewell::report {

/// -O timestamp=0 to 3.
enum class Times : uint8_t {
  Nanoseconds,   // seconds with nine digits, and milliseconds with six since the event before it
  Short,         // seconds with six digits alone
  Microseconds,  // whole microseconds, and those since the event before it
  None,
};

struct ColumnChoice {
  bool log = false, component = false, ids = true, process = false;
  bool pid = false, tid = false, cpu = false;
  Times times = Times::Nanoseconds;
  bool color = false;  // escape sequences for a terminal
};

/// When an event was, in nanoseconds.
struct EventTimes {
  bool known = false;
  int64_t elapsed_ns = 0;  // since the first event of the log, or TRACE ON
  int64_t delta_ns = 0;    // since the event printed before it
};

/// Columns are separated by two blanks and as wide as their heads and widest usual contents, so
/// that they do not move.
class Columns {
 public:
  explicit Columns(const ColumnChoice& choice) : choice_(choice) {}

  /// Up to where the text begins.
  uint32_t width() const;
  /// The columns' heads; those of the levels, which end the line.
  void heads(TextBuffer& out) const;
  static void levels(TextBuffer& out);
  void row(TextBuffer& out, const Entry& entry, const LogFacts& log,
           const EventTimes& times) const;

 private:
  void put_times(TextBuffer& out, const EventTimes& times) const;

  ColumnChoice choice_;
};

/// The level's text begins so many columns further right for each.
inline constexpr uint32_t kLevelWidth = 8;

}  // namespace tracewell::report
