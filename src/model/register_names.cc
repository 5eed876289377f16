#include "model/register_names.h"

#include <algorithm>
#include <numeric>

namespace tracewell {

RegisterNames::RegisterNames(const RegisterLayout& layout)
    : layout_(layout), order_(layout.registers.size()) {
  std::iota(order_.begin(), order_.end(), uint32_t{0});
  std::ranges::sort(order_, [&](uint32_t a, uint32_t b) {
    const int names = layout.registers[a].name.compare(layout.registers[b].name);
    return names != 0 ? names < 0 : a < b;
  });
}

std::optional<uint32_t> RegisterNames::index(std::string_view name) const {
  const auto name_of = [&](uint32_t index) -> std::string_view {
    return layout_.registers[index].name;
  };
  const auto at = std::ranges::lower_bound(order_, name, {}, name_of);
  return at != order_.end() && name_of(*at) == name ? std::optional(*at) : std::nullopt;
}

}  // namespace tracewell
