// The part of a trace's registers that its target description names: what debuggers and their files
// may know of. A trace may have more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/catalog.h"
#include "model/registers.h"

namespace tracewell::machine {

class DescribedRegisters {
 public:
  DescribedRegisters() = default;
  /// Without a usable description, all of the catalog's registers.
  explicit DescribedRegisters(const Catalog& catalog);

  const RegisterLayout& layout() const { return layout_; }
  /// From the catalog's layout to this one. `block` has layout().size_bytes; zeros where not known.
  void copy(const RegisterState& from, std::span<uint8_t> block) const;
  /// One bit a register of layout(), least significant bit first.
  std::vector<uint8_t> known(const RegisterState& from) const;

 private:
  RegisterLayout layout_, recorded_;
  std::vector<std::optional<uint32_t>> from_;  // index in recorded_ of each register of layout_
};

}  // namespace tracewell::machine
