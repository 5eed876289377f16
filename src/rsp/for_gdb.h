// Definitions of tracepoints as stock GDB can take them. From each one that it is told of GDB makes
// a tracepoint of its own, and gives up (on a trace file's other tracepoints, or on the connection)
// as soon as one cannot be made. Tried with GDB 13.1:
// - `F`: it reads the instruction, and wants 5 bytes, or as many as qTMinFTPILen says. The length
//   that it was told does not count.
// - `at`: `-m MARKER` is an error to it, `-probe…` an internal one. Without symbols so are
//   addresses that are not plain, lines, offsets; names are not.
// - `cond` and `cmd` with names of a program that it has no symbols of, and lines that are no
//   actions.
// Who wrote the trace does not decide what GDB does: it evaluates places as it connects, and
// collected expressions at `tdump` (evaluated.h), and prints all texts as they are.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/catalog.h"

namespace tracewell::rsp {

/// What GDB has at hand when it gets to see a definition.
struct GdbMeans {
  bool symbols = true;  // of some program; whether of the right one, nobody can tell
  bool code = false;    // it can read the instruction, and takes one of that length
  /// Of a text that it is told in one piece. It takes each piece for a whole line, so what is
  /// longer is not told. The default is what fits a line of a trace file.
  size_t piece_bytes = 460;
};

/// The definition without what GDB would stumble over.
TracepointDef for_gdb(TracepointDef definition, const GdbMeans& means);

/// Its name is printable, and has no `=`.
VariableDef for_gdb(VariableDef variable);
/// Its texts are printable.
RunStatus for_gdb(RunStatus status);

/// Does it say nothing that for_gdb() takes away so that GDB does not evaluate it, or print it?
bool is_fit_for_gdb(const Catalog& catalog);

/// Does GDB look up names of the program to understand this expression?
bool has_program_names(std::string_view expression);

}  // namespace tracewell::rsp
