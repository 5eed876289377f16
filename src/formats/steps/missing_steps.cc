#include "formats/steps/missing_steps.h"

#include <string>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::formats {

Problem missing_steps(uint64_t offset, uint64_t count, uint64_t seq, std::string_view why) {
  const std::string what = count == 0   ? "instructions are"
                           : count == 1 ? "1 instruction is"
                                        : fmt::format("{} instructions are", count);
  return {offset, Problem::Severity::Note, "missing-steps",
          fmt::format("{} missing in front of step {}{}{}", what, seq, why.empty() ? "" : ": ",
                      printable(why))};
}

}  // namespace tracewell::formats
