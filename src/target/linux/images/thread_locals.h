// Thread-local variables: where a thread's block of a module's variables lies.
#pragma once

#include "target/linux/tracer.h"
#include "target/target.h"

namespace tracewell::target::live {

class ThreadLocalBlocks final : public ThreadLocals {
 public:
  explicit ThreadLocalBlocks(Tracer& tracer) : tracer_(tracer) {}
  Result<uint64_t> address(Tid tid, uint64_t link_map, uint64_t offset) override;

 private:
  Tracer& tracer_;
};

}  // namespace tracewell::target::live
