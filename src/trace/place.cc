#include "trace/place.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

constexpr size_t kPlacesNamed = 4;

/// Of a name, or a name and how far behind it.
Result<GivenPlace> find_name(std::string_view text, const AddressNames& names) {
  std::string_view name = text;
  uint64_t offset = 0;
  if (const size_t plus = text.rfind('+'); plus != text.npos) {
    if (const auto number = parse_number(text.substr(plus + 1))) {
      name = text.substr(0, plus);
      offset = *number;
    }
  }
  const std::vector<symbols::NamedPlace> places = names.places(name);
  if (places.empty())
    return {Errc::InvalidArgument,
            fmt::format("the images have nothing that is called {}{}", printable(name),
                        hex_hint(name)),
            failures::kNoSuchName};
  if (places.size() > 1) {
    std::string all;
    for (size_t i = 0; i < std::min(places.size(), kPlacesNamed); ++i)
      all += fmt::format("{}{:#x}", i == 0 ? "" : ", ", places[i].address);
    return {Errc::InvalidArgument,
            fmt::format("{} places are called {}: {}{}; give an address", places.size(),
                        printable(name), all, places.size() > kPlacesNamed ? ", …" : ""),
            failures::kSeveralOfThatName};
  }
  const symbols::NamedPlace& found = places.front();
  return GivenPlace{found.address + offset, std::nullopt,
                    found.size_bytes > offset ? found.size_bytes - offset : 0};
}

}  // namespace

uint64_t GivenPlace::last(uint64_t otherwise) const {
  return address + std::min(size_bytes.value_or(otherwise) - 1, UINT64_MAX - address);
}

Result<GivenPlace> parse_place(std::string_view what, std::string_view text,
                               const AddressNames& names, uint32_t address_bytes) {
  const size_t comma = text.rfind(',');
  const std::string_view first = text.substr(0, comma);
  const auto size = comma == text.npos ? std::optional<uint64_t>()
                                       : parse_number(text.substr(comma + 1));
  const bool bad_size = comma != text.npos && (!size || *size == 0);
  const auto number = parse_number(first);
  if (bad_size || first.empty() || (!number && !names.places)) {
    std::string hint = hex_hint(number && bad_size ? text.substr(comma + 1) : text);
    if (hint.empty() && !bad_size && !first.empty())
      hint = "; names of places come from --image FILE[@BASE]";
    return {Errc::InvalidArgument,
            fmt::format("{} {}: wanted is ADDR or ADDR,LEN{}", what, printable(text), hint),
            failures::kNotAnAddress};
  }
  GivenPlace out;
  if (number) {
    out.address = *number;
  } else {
    auto found = find_name(first, names);
    if (!found)
      return {Errc::InvalidArgument,
              fmt::format("{} {}: {}", what, printable(text), found.error().message),
              found.error().failure};
    out = *found;
  }
  out.size_bytes = size;
  if (address_bytes < 8 && out.last(1) >> (8 * address_bytes) != 0)
    return {Errc::InvalidArgument,
            fmt::format("{} {}: the addresses of this trace have {} bits", what, printable(text),
                        8 * address_bytes),
            failures::kNotAnAddress};
  return out;
}

}  // namespace tracewell::trace
