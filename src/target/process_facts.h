// What is known of a process besides its memory and its threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "target/sites.h"

namespace tracewell::target {

/// Read-only facts about a process, as the kernel and the loader tell them.
class ProcessFacts {
 public:
  virtual ~ProcessFacts() = default;
  virtual Result<std::vector<uint8_t>> auxv(Pid pid) = 0;
  virtual Result<std::string> exec_file(Pid pid) = 0;
  /// The main executable and the shared libraries, in the loader's order.
  virtual Result<std::vector<Module>> modules(Pid pid) = 0;
  /// What is in a module's file, as the process itself would find it; "" = of the main executable,
  /// which may have been deleted. Read, not mapped: whoever owns the file may cut it off meanwhile.
  /// NotFound: there is none, or it is no file; Limit: it is too large.
  virtual Result<std::vector<uint8_t>> read_module(Pid pid, const std::string& path) {
    (void)pid, (void)path;
    return {Errc::NotFound, "there are no files here"};
  }
  /// The `<library-list-svr4>` document (manual, "Library List Format for SVR4 Targets").
  virtual Result<std::string> libraries_svr4(Pid pid) = 0;
  /// Is the whole range mapped without write permission? (reads of it may be served live while a
  /// trace frame is selected)
  virtual bool read_only(Pid pid, uint64_t address, uint64_t size) = 0;
};

}  // namespace tracewell::target
