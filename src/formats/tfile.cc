// GDB's trace file: what `tsave` writes and `target tfile` reads. docs/formats/tfile.md
#include "formats/format.h"
#include "formats/tfile/description.h"
#include "formats/tfile/reader.h"
#include "formats/tfile/writer.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"tf", "tfile"};

bool sniff(Bytes head) {
  // Version digits that we do not know are ours to refuse.
  return as_text(head).starts_with(kTfileMagic.substr(0, 6));
}

}  // namespace

const Format& tfile_format() {
  static const Format kFormat{"tfile", kExtensions,       "GDB trace file",   true,
                              sniff,   TfileReader::open, TfileWriter::create};
  return kFormat;
}

}  // namespace tracewell::formats
