// Hits in this very process: an area, the collector, and a body that a thunk calls as a pad would,
// with chosen values in all registers. Faults are mended as a tracer would.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "ax/hit.h"
#include "axjit/hit_body.h"
#include "base/check.h"
#include "fast/area.h"
#include "fast/collector_code.h"
#include "fast/known_ranges.h"
#include "fast/load_table.h"
#include "fast/readable_here.h"
#include "fast/record.h"
#include "fast/ring_reader.h"

namespace tracewell::fast {

/// Zeroed pages, shared with children.
inline std::span<uint8_t> pages(uint64_t bytes, int protection) {
  void* const at = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
  TW_CHECK(at != MAP_FAILED);
  return {static_cast<uint8_t*>(at), bytes};
}

class HitsHere {
 public:
  struct Step {
    uint32_t kind = TRACEWELL_STEP_GENERAL;
    uint32_t base = TRACEWELL_NO_REGISTER;
    uint64_t value = 0, bytes = 0;
    std::vector<uint8_t> code = {};  // EXPRESSION
  };

  /// Numbers of variables; those below 512 are cells.
  static constexpr uint32_t kTimestamp = 600, kThread = 601, kProcessor = 602;

  explicit HitsHere(const AreaShape& shape = {}, size_t at_once = RingReader::kVisitedAtOnce)
      : shape_(shape),
        memory_(pages(shape.bytes(), PROT_READ | PROT_WRITE)),
        code_(pages(kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC)),
        area_(make_area(memory_, shape)),
        reader_(memory_, shape, at_once),
        known_(memory_, shape) {
    area_.timestamp_number = kTimestamp;
    area_.thread_number = kThread;
    area_.processor_number = kProcessor;
    const Bytes collector = collector_code();
    std::memcpy(code_.data(), collector.data(), collector.size());
    geometry_ = reinterpret_cast<tracewell_geometry*>(code_.data() + collector_head().geometry);
    *geometry_ = make_geometry(shape, reinterpret_cast<uint64_t>(&area_));
    used_ = (collector.size() + 63) / 64 * 64;
    const tracewell_collector& head = collector_head();
    const auto* loads = reinterpret_cast<const tracewell_faulting_load*>(collector.data() +
                                                                         head.loads);
    for (uint32_t i = 0; i < head.load_count; ++i)
      LoadTable::add(at(0), loads[i].load, loads[i].resume);
    const auto entry = [this](uint32_t offset) { return code_.data() + offset; };
    calls_.trace_memory = reinterpret_cast<decltype(calls_.trace_memory)>(entry(head.trace_memory));
    calls_.trace_string = reinterpret_cast<decltype(calls_.trace_string)>(entry(head.trace_string));
    calls_.trace_variable =
        reinterpret_cast<decltype(calls_.trace_variable)>(entry(head.trace_variable));
    calls_.get_variable =
        reinterpret_cast<decltype(calls_.get_variable)>(entry(head.get_variable));
    calls_.read_memory = reinterpret_cast<decltype(calls_.read_memory)>(entry(head.read_memory));
    calls_.print = reinterpret_cast<decltype(calls_.print)>(entry(head.print));
  }
  ~HitsHere() {
    LoadTable::forget(at(0), at(code_.size()));
    munmap(memory_.data(), memory_.size());
    munmap(code_.data(), code_.size());
  }
  HitsHere(const HitsHere&) = delete;
  HitsHere& operator=(const HitsHere&) = delete;

  /// A body that does this; its address. Registers are numbered as instructions do.
  uint64_t add(uint32_t number, const std::vector<Step>& steps,
               const std::vector<uint8_t>& condition = {}, uint32_t record_bytes = 4096,
               uint64_t pc = 0, bool patient = false) {
    auto* const plan = reinterpret_cast<tracewell_hit_plan*>(
        take(sizeof(tracewell_hit_plan) + steps.size() * sizeof(tracewell_step)));
    *plan = {&calls_, number, record_bytes, static_cast<uint32_t>(steps.size()),
             patient ? 5000U : 0U, pc, nullptr};
    std::vector<axjit::RegisterPlace> places;
    for (uint32_t which = 0; which <= axjit::kEflags; ++which)
      places.push_back(axjit::place_in_hit(which, which));
    std::vector<axjit::VariablePlace> variables;
    for (uint32_t i = 0; i < 512; ++i)
      variables.push_back({i, axjit::VariablePlace::Kind::Cell, i * 8});
    for (const uint32_t builtin : {kTimestamp, kThread, kProcessor})
      variables.push_back({builtin, axjit::VariablePlace::Kind::Computed, 0});
    std::vector<ax::Code> collected;
    for (const Step& step : steps)
      if (step.kind == TRACEWELL_STEP_EXPRESSION) collected.emplace_back(step.code);
    std::vector<tracewell_step> memory;
    for (const Step& step : steps) memory.push_back({step.kind, step.base, step.value, step.bytes});
    for (const Step& step : steps)
      if (step.kind != TRACEWELL_STEP_MEMORY || step.bytes > 256) memory.clear();
    const auto body = axjit::make_hit_body(
        {.pc = pc,
         .all_registers = !steps.empty(),
         .condition = condition,
         .collected = collected,
         .memory = memory,
         .addresses = {.collect = at(collector_head().collect),
                       .calls = reinterpret_cast<uint64_t>(&calls_),
                       .plan = reinterpret_cast<uint64_t>(plan),
                       .variables = reinterpret_cast<uint64_t>(area_.variables),
                       .reader = reinterpret_cast<uint64_t>(&area_.reader),
                       .reads = reinterpret_cast<uint64_t>(&geometry_->reads),
                       .ranges = reinterpret_cast<uint64_t>(&area_) + shape_.ranges_offset()},
         .registers = places,
         .variables = variables,
         .memory_reads = geometry_->reads == TRACEWELL_READS_LOAD ? axjit::MemoryReads::Direct
                                             : axjit::MemoryReads::Called});
    TW_CHECK(body.ok());
    auto* const code = reinterpret_cast<uint8_t*>(take(body->code.size()));
    std::memcpy(code, body->code.data(), body->code.size());
    const auto base = reinterpret_cast<uint64_t>(code);
    plan_ = plan;
    for (const axjit::FaultingLoad& load : body->loads)
      LoadTable::add(base, load.load, load.resume);
    if (body->fill != 0)
      plan->fill = reinterpret_cast<decltype(plan->fill)>(base + body->fill);
    size_t expressions = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      const bool is_code = step.kind == TRACEWELL_STEP_EXPRESSION;
      plan->steps[i] = {step.kind, step.base,
                        is_code ? base + body->collected[expressions++] : step.value, step.bytes};
    }
    return base;
  }

  /// TRACEWELL_READS_…; where it goes by what is known, that is what is mapped now.
  void read_by(uint32_t how) {
    geometry_->reads = how;
    if (how == TRACEWELL_READS_KNOWN) known_.set(readable_here());
  }
  KnownRanges& known() { return known_; }
  /// Of the last body.
  const tracewell_hit_plan& plan() const { return *plan_; }

  tracewell_area& area() { return area_; }
  tracewell_geometry& geometry() { return *geometry_; }
  RingReader& reader() { return reader_; }
  std::span<uint8_t> memory() const { return memory_; }
  const AreaShape& shape() const { return shape_; }
  /// Room for code or data of a test's own.
  uint64_t take(uint64_t bytes) {
    const uint64_t begin = at(used_);
    used_ += (bytes + 63) / 64 * 64;
    TW_CHECK(used_ <= code_.size());
    return begin;
  }

  struct Record {
    uint32_t tid, plan;
    uint64_t ticks;
    std::vector<uint8_t> blocks;
  };
  /// Everything that is finished, ring by ring.
  std::vector<Record> records(bool ended = false) {
    std::vector<Record> out;
    for (uint32_t ring = 0; ring < shape_.all_rings(); ++ring)
      reader_.take(ring, ended, [&](std::span<const RingRecord> records) {
        for (const RingRecord& one : records)
          out.push_back({one.tid, one.plan, one.ticks, {one.blocks.begin(), one.blocks.end()}});
      });
    return out;
  }
  uint64_t lost() const {
    uint64_t sum = 0;
    for (uint32_t ring = 0; ring < shape_.all_rings(); ++ring) sum += reader_.losses(ring).all();
    return sum;
  }

 private:
  static constexpr uint64_t kCodeBytes = 4 << 20;
  uint64_t at(uint64_t offset) const { return reinterpret_cast<uint64_t>(code_.data()) + offset; }

  AreaShape shape_;
  std::span<uint8_t> memory_, code_;
  tracewell_area& area_;
  tracewell_geometry* geometry_ = nullptr;
  RingReader reader_;
  KnownRanges known_;
  tracewell_native_calls calls_{};
  uint64_t used_ = 0;
  const tracewell_hit_plan* plan_ = nullptr;
};

}  // namespace tracewell::fast
