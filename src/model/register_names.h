// Registers by name, for whoever looks for as many as a layout has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/registers.h"

namespace tracewell {

/// RegisterLayout::find() looks at each register; this looks at few. Sorted and not hashed: nobody
/// can choose names that make it slow.
class RegisterNames {
 public:
  /// `layout` must outlive this, and its registers stay as they are.
  explicit RegisterNames(const RegisterLayout& layout);

  /// The register's index, of several with this name that of the first one; nullopt when there is
  /// none.
  std::optional<uint32_t> index(std::string_view name) const;

 private:
  const RegisterLayout& layout_;
  std::vector<uint32_t> order_;  // indices, by name
};

}  // namespace tracewell
