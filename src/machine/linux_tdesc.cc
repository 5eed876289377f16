#include "machine/linux_tdesc.h"

#include <string_view>

#include <fmt/format.h>

namespace tracewell::machine {

std::string with_linux_registers(std::string description) {
  constexpr std::string_view kCore = "\"org.gnu.gdb.i386.core\"", kArchitecture = "</architecture>",
                             kEnd = "</target>";
  const auto has = [&](std::string_view text) { return description.find(text) != text.npos; };
  const size_t end = description.rfind(kEnd);
  if (!has(kCore) || has("\"org.gnu.gdb.i386.linux\"") || end == description.npos)
    return description;
  const bool wide = has("name=\"rip\"");
  description.insert(end, fmt::format("  <feature name=\"org.gnu.gdb.i386.linux\">\n"
                                      "    <reg name=\"{}\" bitsize=\"{}\" type=\"int\"/>\n"
                                      "  </feature>\n",
                                      wide ? "orig_rax" : "orig_eax", wide ? 64 : 32));
  const size_t architecture = description.find(kArchitecture);
  if (!has("<osabi>") && architecture != description.npos)
    description.insert(architecture + kArchitecture.size(), "\n  <osabi>GNU/Linux</osabi>");
  return description;
}

}  // namespace tracewell::machine
