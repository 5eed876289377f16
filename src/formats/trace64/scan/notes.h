// What looking through an x64dbg trace has found, in bytes, so that the next one who opens the file
// need not look again. They are kept beside the file, where anybody can write; so whatever they say
// lies inside the file, and counts are no larger than it can hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"
#include "formats/trace64/scan/contents.h"

namespace tracewell::formats::trace64 {

class NotesWriter;

class Notes {
 public:
  static std::vector<uint8_t> write(const Contents& contents);
  /// Into scan, problems and generation of `contents`, which has file, header and an empty scan.
  /// `file_bytes`: of the file when they were written. False: they are damaged, or of something
  /// else; what is in `contents` is of no use then.
  static bool read(Bytes notes, uint64_t file_bytes, Contents& contents);

 private:
  static bool read_places(Cursor& in, uint64_t file_bytes, Scan& scan);
  static bool read_keyframes(Cursor& in, Scan& scan);
  static bool read_lists(Cursor& in, uint64_t file_bytes, Scan& scan);
  static bool read_bases(Cursor& in, Scan& scan);
  static void write_resume(NotesWriter& out, const Scan::Resume& resume);
  static bool read_resume(Cursor& in, Scan& scan, std::optional<Scan::Resume>& out);
  static void list_user_blocks(Bytes file, Scan& scan);
  static bool read_push_old(Cursor& in, const Scan& scan, Generation& generation);
};

}  // namespace tracewell::formats::trace64
