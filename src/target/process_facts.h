// What is known of a process besides its memory and its threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "model/catalog.h"
#include "target/memory_room.h"
#include "target/sites.h"

namespace tracewell::target {

/// Files that modules of a process are mapped from, as it was mapped when this was made.
class ModuleFiles {
 public:
  virtual ~ModuleFiles() = default;
  /// What is in the file of one of modules(), whatever has its name by now. Read, not mapped:
  /// whoever owns the file may change it meanwhile. NotFound: there is none, or we may not see it;
  /// Limit: it has more than `bytes_max`.
  virtual Result<std::vector<uint8_t>> read(const Module& module, uint64_t bytes_max) = 0;
};

/// Read-only facts about a process, as the kernel and the loader tell them.
class ProcessFacts {
 public:
  virtual ~ProcessFacts() = default;
  /// Who it is, as far as the system says it. Its number is that in its own PID namespace.
  virtual tracewell::Process identity(Pid pid) { return {.pid = static_cast<uint32_t>(pid)}; }
  virtual Result<std::vector<uint8_t>> auxv(Pid pid) = 0;
  virtual Result<std::string> exec_file(Pid pid) = 0;
  /// What the process runs, to be read, if exec_file() tells of it by this name, whatever has the
  /// name by now. `its_view`: the name is meant as the process sees files, else as the server does:
  /// of a process in another mount namespace that is another file. NotFound: it is no such name.
  virtual Result<UniqueFd> open_exec_file(Pid pid, const std::string& name, bool its_view) {
    (void)pid, (void)name, (void)its_view;
    return Error{Errc::NotFound, "there are no files here", {}};
  }
  /// The main executable and the shared libraries, in the loader's order.
  virtual Result<std::vector<Module>> modules(Pid pid) = 0;
  /// Null: there are no files here. Valid while these facts are.
  virtual std::unique_ptr<ModuleFiles> module_files(Pid pid) {
    (void)pid;
    return nullptr;
  }
  /// The `<library-list-svr4>` document (manual, "Library List Format for SVR4 Targets").
  virtual Result<std::string> libraries_svr4(Pid pid) = 0;
  /// Is the whole range mapped without write permission? (reads of it may be served live while a
  /// trace frame is selected)
  virtual bool read_only(Pid pid, uint64_t address, uint64_t size) = 0;
  /// What is left to a process of memory, by the control groups that it is in and by the machine.
  /// Pid 0: to this server. At first nothing is known that would keep it from having all.
  virtual MemoryRoom memory_room(Pid pid) {
    (void)pid;
    return {};
  }

  /// Asked between the pieces of what may take long, since programs may lie: is the answer wanted
  /// still? Empty: it is.
  std::function<bool()> give_up;
  bool gives_up() const { return give_up && give_up(); }
};

}  // namespace tracewell::target
