#include "trace/questions/find_words.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "trace/place.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

using What = FindQuestion::What;
struct FindKind {
  std::string_view name;
  What what;
};
constexpr FindKind kFindKinds[] = {
    {"exec", What::Executions},
    {"read", What::Reads},
    {"write", What::Writes},
    {"access", What::Accesses},
    {"reg", What::RegisterChanges},
    {"bytes", What::MemoryBytes},
    {"value", What::Values},
};

What kind_meant(const FindWords& words) {
  const auto* const kind = std::ranges::find(kFindKinds, words.what, &FindKind::name);
  TW_CHECK(kind != std::end(kFindKinds));
  return kind->what;
}

/// What may have been meant by a text that is no row of bytes.
std::string bytes_hint(std::string_view text) {
  constexpr size_t kTextMax = 64;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const std::string_view digits = text.substr(2);
    return from_hex(digits) ? fmt::format("; without 0x it is {}", digits)
                            : "; a number is found by: find value";
  }
  if (text.empty() || text.size() > kTextMax) return "";
  if (text.find_first_not_of("0123456789abcdefABCDEF") == text.npos)
    return "; this is an odd number of digits";
  return fmt::format("; the bytes of this text are {}", to_hex(as_bytes(text)));
}

/// ADDR[,LEN], or what the images call a place.
Result<timeline::AddressRange> range_meant(const FindWords& words, What what,
                                           const StepTrace& trace) {
  TW_ASSIGN_OR_RETURN(const GivenPlace place,
                      parse_place("find " + words.what, words.argument, trace.names,
                                  trace.catalog().address_bytes));
  // Of a variable all of it, of a function where it begins.
  const bool whole = what != What::Executions && place.symbol_bytes != 0;
  return timeline::AddressRange{place.address, place.last(whole ? place.symbol_bytes : 1)};
}

}  // namespace

std::vector<std::string> find_kinds() {
  std::vector<std::string> out;
  for (const FindKind& kind : kFindKinds) out.emplace_back(kind.name);
  return out;
}

Status check_find_words(const FindWords& words) {
  if (words.backward && kind_meant(words) == What::MemoryBytes)
    return {Errc::InvalidArgument, fmt::format("find {} does not go backwards", words.what)};
  return check_range(words.from, words.to);
}

Result<FindQuestion> find_question(const FindWords& words, const StepTrace& trace) {
  FindQuestion out;
  out.what = kind_meant(words);
  out.from = words.from;
  out.to = words.to;
  out.backward = words.backward;
  if (out.what == What::RegisterChanges) {
    out.register_name = words.argument;
  } else if (out.what == What::MemoryBytes) {
    auto bytes = from_hex(words.argument);
    if (!bytes || bytes->empty())
      return {Errc::InvalidArgument,
              fmt::format("find bytes {}: wanted are hex digits, two a byte, the lowest address "
                          "first, such as 488b05{}",
                          printable(words.argument), bytes_hint(words.argument))};
    out.bytes = *std::move(bytes);
  } else if (out.what == What::Values) {
    auto numbers = parse_number_range(words.argument);
    if (!numbers)
      return {Errc::InvalidArgument, fmt::format("find value {}: {}", printable(words.argument),
                                                 numbers.error().message)};
    out.numbers = *numbers;
  } else {
    TW_ASSIGN_OR_RETURN(out.range, range_meant(words, out.what, trace));
  }
  return out;
}

std::string nothing_found(const FindWords& words) {
  const What what = kind_meant(words);
  const bool number = what != What::RegisterChanges && what != What::MemoryBytes;
  return "nothing found" + (number ? hex_hint(words.argument) : "");
}

}  // namespace tracewell::trace
