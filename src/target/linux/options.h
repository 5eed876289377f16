// What live processes are traced with.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "target/target.h"

namespace tracewell::target {

struct LinuxOptions {
  /// May memory be mapped into the traced processes? Without it instructions under a patch are
  /// stepped in place, with the other threads stopped meanwhile: slower, and nothing is added.
  bool map_memory = true;
  /// Is memory shared with a program only where nobody else has its descriptors? Where the kernel
  /// cannot tell (no kcmp(2)), it is as if this were false: what was mapped is compared alone.
  bool alone_with_descriptors = true;
  /// Told in words: what the user is to know of threads that cannot be stopped. From inside calls.
  std::function<void(std::string_view)> notice = {};
  /// Asked in the destructor when this process must live on until a thread of the program stops,
  /// for the reason that is given, since the program would break. False: it is left to break.
  std::function<bool(const std::string&)> stay = {};
  /// A process that waits for this one, and is what users see of it. It hands signals on, and would
  /// not if it were traced from here. 0 = none.
  Pid front = 0;
};

}  // namespace tracewell::target
