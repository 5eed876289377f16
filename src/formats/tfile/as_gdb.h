// What stock GDB (13.1, as tried) makes of lines of a description, where that is not what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.h"

namespace tracewell::formats {

struct BlockSize {
  uint32_t bytes = 0;       // 0 = GDB does not go on
  std::string_view digits;  // the number alone
};

/// The number behind `R `. Blanks before it, a sign, 0x, and all that stands behind it do not
/// matter; it is cut to 32 bits.
BlockSize block_size_as_gdb(std::string_view text);

/// Why GDB gives up at the text behind `status `, if it does: then it knows of nothing that the
/// description says, but shows frames.
std::optional<std::string> status_fault_as_gdb(std::string_view text);

/// Does GDB write a field that is called so?
bool is_status_field(std::string_view name);

/// Has it nothing but fields that GDB writes, in any order, one reason to stop and no text twice?
/// Of others GDB takes texts that nobody looked at: `note` is `notes` to it, and the text of a
/// `terror` stays when a `tstop` without one follows.
bool is_plain_status(std::string_view text);

/// Is it a line that GDB warns of, by showing it, and does nothing else with?
bool is_line_that_gdb_only_shows(std::string_view line);

/// The first tracepoint that no GDB takes, whatever program it has at hand (rsp/for_gdb.h has what
/// else it may not take).
std::optional<std::string> tracepoint_fault_as_gdb(const Catalog& catalog);

}  // namespace tracewell::formats
