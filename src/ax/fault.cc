#include "ax/fault.h"

namespace tracewell::ax {
namespace {

// Rows of fixed width: a table of pointers would need relocations (see OpcodeInfo).
constexpr char kTexts[][28] = {
#define TRACEWELL_AX_TEXT(name, text) text,
    TRACEWELL_AX_FAULTS(TRACEWELL_AX_TEXT)
#undef TRACEWELL_AX_TEXT
};

}  // namespace

const char* fault_text(Fault fault) {
  const auto row = static_cast<size_t>(fault);
  return row < sizeof kTexts / sizeof kTexts[0] ? kTexts[row] : "unknown error";
}

}  // namespace tracewell::ax
