// Facts about a process, as the kernel and the loader tell them.
#pragma once

#include <functional>
#include <string>

#include <unistd.h>

#include "target/linux/kernel/control_groups.h"
#include "target/linux/threads/thread_table.h"
#include "target/target.h"

namespace tracewell::target::live {

class Facts final : public ProcessFacts {
 public:
  Facts(const ThreadTable& threads, const std::function<bool()>& gives_up)
      : threads_(threads), gives_up_(gives_up) {}
  tracewell::Process identity(Pid pid) override;
  Result<std::vector<uint8_t>> auxv(Pid pid) override;
  Result<std::string> exec_file(Pid pid) override;
  Result<UniqueFd> open_exec_file(Pid pid, const std::string& name, bool its_view) override;
  Result<std::vector<Module>> modules(Pid pid) override;
  std::unique_ptr<ModuleFiles> module_files(Pid pid) override;
  Result<std::string> libraries_svr4(Pid pid) override;
  bool read_only(Pid pid, uint64_t address, uint64_t size) override;
  MemoryRoom memory_room(Pid pid) override { return memory_room_of(pid != 0 ? pid : getpid()); }

 private:
  struct Loaded;
  Result<std::string> program_name(Pid pid);
  Result<Loaded> loaded(Pid pid);
  const ThreadTable& threads_;
  const std::function<bool()>& gives_up_;  // is what takes long to be left off?
};

/// Name and processor of a thread; empty and -1 when it is gone. Of one that does not stand still,
/// the kernel may not tell the processor.
void describe_thread(ThreadInfo& info, bool stands);

}  // namespace tracewell::target::live
