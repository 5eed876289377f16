// Memory of ours in the program, near the code that is patched: for copies of instructions.
#pragma once

#include <cstdint>
#include <functional>

#include "target/linux/inject/injector.h"

namespace tracewell::target::live {

class Arenas {
 public:
  /// `may_map`: without it there is none, see LinuxOptions.
  Arenas(Injector& injector, bool may_map, const std::function<bool()>& gives_up)
      : injector_(injector), may_map_(may_map), gives_up_(gives_up) {}

  /// One that has room, and from which the address is in reach. nullptr: none can be had.
  Arena* near(Thread& thread, uint64_t address);
  void unmap_all(Thread& thread);

 private:
  Injector& injector_;
  bool may_map_;
  const std::function<bool()>& gives_up_;
};

}  // namespace tracewell::target::live
