// JSON lines: first the catalog, then one event a line. Written and read; the form for tests, for
// scripts and for hands. docs/formats/jsonl.md
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "model/catalog.h"
#include "model/event.h"

namespace tracewell::formats {

/// `{"catalog":{…}}`, without a newline.
std::string catalog_to_json(const Catalog& catalog);
/// Missing keys keep their defaults, unknown keys are ignored; what is of the wrong type is left
/// out and told.
Result<Catalog> catalog_from_json(std::string_view line, ProblemLog& problems);

/// Appends one event, without a newline. `with_before`: a step has that key even if it is empty.
/// `pid`: of its process; 0 = not known.
void append_event_json(std::string& out, const Catalog& catalog, const Event& event,
                       bool with_before = false, uint32_t pid = 0);

/// What an access's kind is called, by its number.
constexpr std::string_view kAccessNames[] = {"read", "write", "read-write", "nearby"};

/// A JSON string, quoted, with all escaped that may not be shown as it is. Text that is not UTF-8
/// becomes `{"hex":"…"}`.
void append_json_text(std::string& out, std::string_view text);

/// Calls `take(register, value)` for each register of a frame that was collected, by `block`.
template <class Take>
void each_collected(const RegisterLayout& layout, const Frame& frame, const FrameBlock& block,
                    Take&& take) {
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    const Register& one = layout.registers[i];
    if (register_valid(frame, i) && one.offset <= block.bytes.size() &&
        one.size_bytes <= block.bytes.size() - one.offset)
      take(one, block.bytes.subspan(one.offset, one.size_bytes));
  }
}

/// "0x…": the register's value as a number, in minimal digits.
std::string register_value_hex(Bytes value, Endian endian);

}  // namespace tracewell::formats
