// LineProgram: one unit of .debug_line, its header decoded, and the machine that runs it (DWARF 5,
// 6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "symbols/work.h"

namespace tracewell::symbols {

/// The sections that line numbers stand in; they must outlive what is read from them.
struct LineSections {
  Bytes line;        // .debug_line
  Bytes line_texts;  // .debug_line_str
  Bytes texts;       // .debug_str
  Endian endian = Endian::Little;
  uint32_t address_bytes = 8;
};

/// The registers of the machine that matter here, and where it reads on.
struct LineState {
  uint64_t address = 0;
  uint32_t file = 1;
  uint32_t line = 1;
  size_t next = 0;  // offset in LineProgram::code
};

struct LineProgram {
  Bytes code;
  Bytes operand_counts;  // of the standard opcodes, from 1
  Endian endian = Endian::Little;
  uint32_t address_bytes = 8;
  uint8_t instruction_bytes = 1;
  int8_t line_base = 0;
  uint8_t line_range = 1;
  uint8_t opcode_base = 1;
  uint32_t first_file = 1;              // the number of files[0]
  std::vector<std::string_view> files;  // names without folders; "" = not readable

  enum class Outcome : uint8_t { Row, EndOfSequence, Over };
  /// Runs to the next row. Over: the program has ended, or makes no sense.
  Outcome step(LineState& state) const;

 private:
  static constexpr size_t kRowBytesMax = 4096;
  bool extended(ByteReader& in, LineState& state, bool& end) const;
  bool standard(uint8_t opcode, ByteReader& in, LineState& state) const;
  void advance(LineState& state, uint64_t instructions) const;
};

/// Reads the unit at the head of `in`, and moves on to the next one whatever this one is. False
/// when there is none any more. A unit of a version or kind that is not known has no code. The unit
/// and each name in it takes one of `work`, and long names more; behind its end there are no units.
bool read_line_program(ByteReader& in, const LineSections& sections, LineProgram& program,
                       Work& work);

}  // namespace tracewell::symbols
