// LineTable: which line of which file an address of code comes from (DWARF 2 to 5, .debug_line).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/dwarf/line_program.h"
#include "symbols/names/range_index.h"

namespace tracewell::symbols {

/// A program's table may have millions of rows, and few are ever asked for. So each line program is
/// run once, and what is kept is where in it each stretch of kRowsPerPart rows begins, and in which
/// state; a find() runs one stretch again. A row may be preceded by much that changes nothing, so a
/// stretch that has kBytesPerPart of a program is no longer than that and one more row.
class LineTable {
 public:
  static constexpr size_t kRowsPerPart = 128;
  static constexpr size_t kBytesPerPart = 4096;  // compilers write 3 to 5 for a row
  static constexpr size_t kRowWork = 16;  // bytes of a program that are as much work as a row
  /// A row takes a byte at least, so 500 megabytes of them do not come to this.
  static constexpr uint64_t kWorkMax = uint64_t{1} << 30;

  struct Found {
    std::string_view file;  // without its folder
    uint32_t line = 0;
  };

  /// Programs that make no sense are left out, and so is what lies outside of `code`: lines of
  /// functions that the linker dropped claim to be at address 0 or so. A program, each of its names
  /// and each of its rows takes from `work`, more if it is long; what is behind its end is left
  /// out.
  void read(const LineSections& sections, const RangeIndex& code, Work& work);
  bool empty() const { return parts_.empty(); }
  std::optional<Found> find(uint64_t address) const;

 private:
  struct Part {
    uint32_t program;
    LineState state;  // at its first row
  };
  void run(uint32_t number, const RangeIndex& code, Work& work);
  void add_part(const Part& part, uint64_t end);

  std::vector<LineProgram> programs_;
  std::vector<Part> parts_;
  RangeIndex index_;
};

}  // namespace tracewell::symbols
