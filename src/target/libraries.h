// Libraries of a program, where the loader is not that of ELF.
#pragma once

#include <string>

#include "base/result.h"
#include "target/sites.h"

namespace tracewell::target {

/// What a program has loaded, on systems whose loader is not ELF's: Windows.
class Libraries {
 public:
  virtual ~Libraries() = default;
  /// The `<library-list>` document (manual, "Library List Format").
  virtual Result<std::string> library_list(Pid pid) = 0;
};

}  // namespace tracewell::target
