// How much of the program's stack a hit takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

#include "fast/counting.h"
#include "fast/this_processor.h"

namespace tracewell::fast {
namespace {

constexpr size_t kStack = 64 << 10;
constexpr uint8_t kPaint = 0xa5;
void (*to_hit)(uint64_t) = nullptr;
uint8_t* top = nullptr;
ucontext_t here_context, there;

void there_hit() {
  top = static_cast<uint8_t*>(__builtin_frame_address(0));
  to_hit(3);
}

/// Bytes below the frame of who hits.
size_t depth_of(uint64_t body, HitsHere& here) {
  const uint64_t slot = here.take(64);
  const auto code = axjit::hit_slot(body);
  std::memcpy(reinterpret_cast<void*>(slot), code.data(), code.size());
  *reinterpret_cast<uint8_t*>(slot + code.size()) = 0xc3;  // ret
  to_hit = reinterpret_cast<void (*)(uint64_t)>(slot);
  std::vector<uint8_t> stack(kStack, kPaint);
  getcontext(&there);
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here_context;
  makecontext(&there, there_hit, 0);
  swapcontext(&here_context, &there);
  const auto lowest = std::ranges::find_if(stack, [](uint8_t byte) { return byte != kPaint; });
  return static_cast<size_t>(top - &*lowest);
}

class FastStack : public ::testing::TestWithParam<bool> {};

TEST_P(FastStack, NoHitTakesMoreThanIsSaid) {
  HitsHere here({.rings = 4, .ring_bytes = 1 << 16});
  const ThisProcessor processor;
  if (!processor.has_xsavec) GTEST_SKIP() << "XSAVEC or XGETBV with 1 is missing";
  set_vectors(here.geometry(), processor.parts, processor.direct);
  if (GetParam()) here.geometry().reads = TRACEWELL_READS_CALL;
  auto* const page = static_cast<uint8_t*>(mmap(nullptr, 4096, PROT_NONE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto nowhere = reinterpret_cast<uint64_t>(page);
  static const char text[] = "some text";
  static std::vector<uint8_t> handlers(kStack);  // faults are the tracer's: they are handled there
  const stack_t aside{.ss_sp = handlers.data(), .ss_flags = 0, .ss_size = handlers.size()};
  sigaltstack(&aside, nullptr);
  using Step = HitsHere::Step;
  const Step vectors{.kind = TRACEWELL_STEP_VECTOR,
                     .value = processor.components,
                     .bytes = processor.bytes};
  const auto memory = [](uint64_t address, uint64_t bytes) {
    return Step{.kind = TRACEWELL_STEP_MEMORY, .value = address, .bytes = bytes};
  };
  const auto expression = [](uint64_t address, std::vector<uint8_t> rest) {
    std::vector<uint8_t> code = {0x25};  // const64
    for (int shift = 56; shift >= 0; shift -= 8) code.push_back(uint8_t(address >> shift));
    code.insert(code.end(), rest.begin(), rest.end());
    code.push_back(0x27);  // end
    return Step{.kind = TRACEWELL_STEP_EXPRESSION, .code = code};
  };
  const auto at_text = reinterpret_cast<uint64_t>(text);
  const std::vector<std::vector<Step>> all = {
      {},
      {{}},
      {{}, vectors},
      {memory(at_text, 8)},
      {memory(at_text, 300)},
      {memory(nowhere, 8)},
      {{}, memory(nowhere - 8, 300)},
      {expression(at_text, {0x22, 8, 0x0c})},        // const8 8, trace
      {expression(at_text, {0x22, 40, 0x2f})},       // const8 40, tracenz
      {expression(nowhere, {0x22, 40, 0x2f})},
      {expression(nowhere, {0x1a})},                 // ref64
      {expression(at_text, {0x1a, 0x2c, 2, 0x58})},  // ref64, getv timestamp
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t body = here.add(static_cast<uint32_t>(i), all[i], {}, i == 5 ? 32 : 4096);
    size_t depth = 0;  // the first one tells of all vector state, others compare it
    for (int times = 0; times < 3; ++times) depth = std::max(depth, depth_of(body, here));
    // 128 of the red zone, and the hit itself.
    const size_t collector = depth - 128 - sizeof(tracewell_hit);
    EXPECT_LE(collector, TRACEWELL_COLLECTOR_STACK) << "kind " << i;
  }
  EXPECT_GE(here.records().size(), 3 * (all.size() - 1));
  munmap(page, 4096);
}

INSTANTIATE_TEST_SUITE_P(ByLoadsAndByCalls, FastStack, ::testing::Bool());

}  // namespace
}  // namespace tracewell::fast
