// Static tracepoint markers of a process: of its program and all libraries that are loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/engine/marker_operand.h"
#include "base/result.h"
#include "model/registers.h"
#include "target/target.h"

namespace tracewell::agent {

struct Marker {
  uint64_t address = 0;
  std::string id;          // symbols::Marker::id
  std::string arguments;   // as they are spelled there
  bool hook = false;
  uint64_t semaphore = 0;  // 0 = none
};

/// By address. The files are read each time: libraries come and go. 512 MiB of each are read, and
/// 2 GiB of all, at most. Empty for a target that knows no files.
std::vector<Marker> find_markers(target::Target& target, target::Pid pid);

/// What `$_sdata` is at a marker: "arg0=-5 arg1=0x7ffe", of a hook "hkwd=0x10a00006 d1=0x1".
class MarkerData {
 public:
  MarkerData() = default;
  MarkerData(const Marker& marker, const RegisterLayout& layout);

  struct Argument {
    std::string name;
    MarkerOperand operand;  // without code: it cannot be computed, and is shown as `?`
  };
  const std::vector<Argument>& arguments() const { return arguments_; }

 private:
  std::vector<Argument> arguments_;
};

}  // namespace tracewell::agent
