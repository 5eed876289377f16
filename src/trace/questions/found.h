// What can be asked of a trace of steps with find(), and what is found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "timeline/search.h"
#include "timeline/timeline.h"
#include "trace/step_at.h"

namespace tracewell::trace {

/// A number, or all from one to another, both included. Signed where one of them was given with a
/// minus; a negative number is one of any size.
struct NumberRange {
  bool is_signed = false;
  uint64_t low = 0, last = 0;  // two's complement

  bool is_one() const { return low == last; }
  /// `bytes`: one to eight.
  bool holds(Bytes bytes, Endian endian) const;
};
/// "42", "-1", "0x10..0x20"; InvalidArgument when it is no such thing, or nothing is in the range.
Result<NumberRange> parse_number_range(std::string_view text);

struct FindQuestion {
  enum class What : uint8_t {
    Executions,       // of the instructions at `range`
    Reads,            // of memory at `range`
    Writes,           // of it; and steps that find it changed by others
    Accesses,         // both
    RegisterChanges,  // of `register_name`, by instructions and by others
    MemoryBytes,      // where and when memory held `bytes`; not backwards
    Values,           // registers and accessed memory with one of `numbers`
  };
  What what = What::Executions;
  timeline::AddressRange range = {};
  std::string register_name;  // or that of a part of one, with or without $
  std::vector<uint8_t> bytes;  // not empty
  NumberRange numbers = {};
  /// Steps, both included; of MemoryBytes, those before which the memory was so.
  uint64_t from = 0, to = UINT64_MAX;
  bool backward = false;
};

/// What was found at a step. Values are in the trace's byte order; empty = not known.
struct FoundAccess {
  Step::MemoryAccess::Kind kind = Step::MemoryAccess::Kind::Read;
  uint64_t address = 0;
  uint32_t size = 0;
  std::vector<uint8_t> old_bytes, new_bytes;
};
struct FoundRegister {
  std::string name;            // of the register, or of its part
  std::vector<uint8_t> value;  // that the change left
  bool by_others = false;      // since the thread's last step; false: by the instruction
};
struct FoundValue {
  std::string register_name;  // "" = memory
  uint64_t address = 0;
  uint32_t size = 0;
  bool before = false;  // the step; false: behind it
  std::vector<uint8_t> value;
};
/// The step was executed, and nothing more was asked.
struct FoundExecution {};
using FoundAtStep = std::variant<FoundExecution, FoundAccess, timeline::ChangeByOthers,
                                 FoundRegister, FoundValue>;
struct StepHit {
  StepAt step;
  FoundAtStep found;
};

/// Memory that held the bytes, and who made it so, as far as anybody knows.
struct MemoryHit {
  timeline::BytesHit where;
  std::optional<StepAt> written_by;
  struct Times {
    uint64_t since = 0, until = 0;
  };
  std::optional<Times> changed_by_others;
};
using Hit = std::variant<StepHit, MemoryHit>;

}  // namespace tracewell::trace
