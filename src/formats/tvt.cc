#include "formats/tvt.h"

#include <algorithm>
#include <iterator>

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"tvt"};
constexpr std::string_view kMembers[] = {"arch", "ip_reg", "pointer_size", "regs",
                                         "reg_sizes", "trace"};

}  // namespace

bool is_tvt_member(std::string_view name) {
  return std::find(std::begin(kMembers), std::end(kMembers), name) != std::end(kMembers);
}

bool is_binary_tvt(Bytes head) { return as_text(head).starts_with("TVTR"); }

/// Which member comes first is the writer's choice.
bool sniff_tvt(Bytes head) {
  if (is_binary_tvt(head)) return true;  // open_tvt() says what to do with it
  const std::string_view text = as_text(head);
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') return false;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return (has("\"regs\"") && (has("\"ip_reg\"") || has("\"ip\""))) ||
         (has("\"arch\"") && has("\"ip_reg\""));
}

const Format& tvt_format() {
  static const Format kFormat{"tvt",     kExtensions, "execution trace viewer's JSON", false,
                              sniff_tvt, open_tvt,    create_tvt};
  return kFormat;
}

}  // namespace tracewell::formats
