// Instruction traces of the debugger x64dbg (.trace64, .trace32).
//
// What is odd about them: no field says which recorder wrote a file, and they differ; there is no
// index, no checksum and no end; a file is appended to when it is recorded into again; each change
// of a register stands there twice, each memory access without size and direction; and for nine
// years the thread id was written behind a flag that said it was not there.
// docs/formats/trace64.md has it all.
#include "formats/format.h"
#include "formats/trace64/read/reader.h"
#include "formats/trace64/write/writer.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"trace64", "trace32"};

bool sniff(Bytes head) { return as_text(head).starts_with(trace64::kMagic); }

}  // namespace

const Format& trace64_format() {
  static const Format kFormat{.name = "trace64",
                              .extensions = kExtensions,
                              .description = "instruction trace of x64dbg",
                              .sniff = sniff,
                              .open = trace64::Reader::open,
                              .create = trace64::Writer::create};
  return kFormat;
}

}  // namespace tracewell::formats
