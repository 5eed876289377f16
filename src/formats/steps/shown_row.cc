#include "formats/steps/shown_row.h"

namespace tracewell::formats {

void ShownRow::clear() {
  seq = tid = pc = 0;
  opcode.clear();
  note.clear();
  values.clear();
  pieces.clear();
  bytes.clear();
  incomplete = false;
}

size_t ShownRow::add_bytes(Bytes more) {
  const size_t at = bytes.size();
  bytes.insert(bytes.end(), more.begin(), more.end());
  return at;
}

}  // namespace tracewell::formats
