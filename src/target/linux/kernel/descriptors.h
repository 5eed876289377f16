// Descriptors of the process that traces. A program with very many processes may take all that
// there are, and a child that cannot be looked at then would be left with the traps of its parent.
#pragma once

#include <vector>

#include <sys/resource.h>

#include "base/files/file.h"

namespace tracewell::target::live {

/// As many as the hard limit allows, from now on. Programs that are started have the limit of
/// before (give_back_descriptor_limit), since what they do may depend on it.
void raise_descriptor_limit();
/// In a child, between fork and exec: allocates nothing.
void give_back_descriptor_limit();

/// Some that are held back for what must not fail. For one thread.
class SpareDescriptors {
 public:
  /// Takes what is missing, as far as there are any.
  void refill();
  /// A file may be opened now, with the folders on its way, soon to be closed again. False: none is
  /// left.
  bool give();

 private:
  static constexpr size_t kSpares = 8;
  std::vector<UniqueFd> held_;
};

}  // namespace tracewell::target::live
