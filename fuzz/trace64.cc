// x64dbg traces: open, walk, jump, write again. Registers that a jump finds are those that the walk
// adds up to; what was written reads again without a complaint.
// Two full dumps and what goes wrong between them fit into a few KiB; more is only slower.
// max_len: 16384
#include "format_fuzz.h"

namespace {

using namespace tracewell;

uint64_t touch_step(const Step& step) {
  uint64_t sum = 0;
  auto add = [&sum](Bytes bytes) {
    for (const uint8_t byte : bytes) sum += byte;
  };
  add(step.opcode);
  add(step.stored);
  for (const auto& change : step.before) add(change.value);
  for (const auto& change : step.registers) add(change.value);
  for (const auto& access : step.memory) {
    add(access.old_bytes);
    add(access.new_bytes);
    fuzz::require(access.old_bytes.empty() || access.old_bytes.size() == access.size);
    fuzz::require(access.new_bytes.empty() || access.new_bytes.size() == access.size);
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto opened = fuzz::open(Bytes(data, size), "trace64");
  if (!opened) return 0;
  Source& source = *opened->source;
  StepIndex& index = *source.steps();
  Batch batch;
  StepIndex::Moment moment;
  uint64_t steps = 0;
  while (true) {
    auto more = source.next(batch);
    fuzz::require(more.ok());
    if (!*more) break;
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (!step) continue;
      fuzz::require(event.seq == steps++);
      touch_step(*step);
      if (steps % 64 != 1) continue;
      fuzz::require(index.state_before(event.seq, moment).ok());
      fuzz::require(moment.tid == event.tid && moment.pc == step->pc);
    }
  }
  fuzz::require(steps == index.count());
  fuzz::require(index.seek(steps / 2).ok());
  fuzz::require(source.next(batch).ok());
  fuzz::require(index.seek(0).ok());
  const std::string again = fuzz::written(source, "trace64");
  fuzz::require(!again.empty());
  auto reopened = fuzz::open(as_bytes(again), "trace64");
  fuzz::require(reopened && reopened->source->steps()->count() == steps);
  fuzz::require(index.seek(0).ok());
  fuzz::require(fuzz::write_away(source, "jsonl").ok());
  return 0;
}
