// Thread-local variables: where a thread's block of a module's variables lies.
#pragma once

#include <functional>

#include "target/linux/threads/thread_table.h"
#include "target/target.h"

namespace tracewell::target::live {

class ThreadLocalBlocks final : public ThreadLocals {
 public:
  ThreadLocalBlocks(const ThreadTable& threads, const std::function<bool()>& gives_up)
      : threads_(threads), gives_up_(gives_up) {}
  Result<uint64_t> address(Tid tid, uint64_t link_map, uint64_t offset) override;

 private:
  const ThreadTable& threads_;
  const std::function<bool()>& gives_up_;  // is what takes long to be left off?
};

}  // namespace tracewell::target::live
