// StepHistory: what a debugger asks of a recorded run, answered by the trace and its timeline.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "target/recorded/history.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

class StepHistory final : public target::History {
 public:
  static Result<StepHistory> open(StepTrace trace);
  const Catalog& catalog() const { return trace_.catalog(); }

  uint64_t count() const override { return trace_.timeline->steps(); }
  std::vector<uint64_t> threads() override;
  Status before(uint64_t step, StepIndex::Moment& moment) override;
  /// What instructions touched, and what they are made of.
  Status read_memory(uint64_t step, uint64_t address, std::span<uint8_t> into,
                     std::span<ByteState> states) override;
  std::optional<uint64_t> next_execution(uint64_t pc, uint64_t from) override;
  std::optional<uint64_t> last_execution(uint64_t pc, uint64_t before) override;
  std::optional<Touched> next_touch(uint64_t address, uint64_t size, Touch how,
                                    uint64_t from) override;
  std::optional<Touched> last_touch(uint64_t address, uint64_t size, Touch how,
                                    uint64_t before) override;
  std::optional<uint64_t> next_of_thread(uint64_t thread, uint64_t from) override;
  std::optional<uint64_t> last_of_thread(uint64_t thread, uint64_t before) override;

 private:
  std::optional<Touched> touched(std::optional<uint64_t> step, uint64_t address, uint64_t size,
                                 Touch how);
  Status read_next(uint64_t step, uint64_t address, std::span<uint8_t> into,
                   std::span<ByteState> states);
  Result<Bytes> code_at(uint64_t pc, uint64_t step);
  Status read_code(uint64_t step, uint64_t address, std::span<uint8_t> into,
                   std::span<ByteState> states);

  StepHistory(StepTrace trace, StepReader reader)
      : trace_(std::move(trace)), reader_(std::move(reader)) {}

  StepTrace trace_;
  StepReader reader_;
};

}  // namespace tracewell::trace
