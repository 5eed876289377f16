#include "formats/trace64/blocks/stored.h"

namespace tracewell::formats {

bool is_stored_without_opcode(const Step& step) {
  bool found = false;
  trace64::each_stored(step.stored, [&](uint8_t tag, Bytes) { found |= tag == 'N'; });
  return found;
}

}  // namespace tracewell::formats
