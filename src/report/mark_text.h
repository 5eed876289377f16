// What the marks of a log of trace hooks say, so that the facility's own templates can show them.
// docs/formats/hooklog.md has their texts.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracewell::report {

struct MarkText {
  enum class Kind : uint8_t {
    Other,
    TraceOn,       // number: channel; rest: why, if that is said
    TraceOff,      // number: channel; rest: why, if that is said
    LogWrapped,    // number: records that were dropped
    RecordsLost,   // number: records; rest: why
    Process,       // number: process id; rest: its path
  };
  Kind kind = Kind::Other;
  uint64_t number = 0;
  std::string_view rest;
};

/// `rest` is a part of `text`.
MarkText read_mark(std::string_view text);

}  // namespace tracewell::report
