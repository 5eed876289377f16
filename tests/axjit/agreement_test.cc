// Random programs, interpreted and compiled, in worlds that are alike. Everything that can be seen
// must be the same: value, error and where, what was recorded and printed in what order, variables,
// the address that could not be read. And native code must keep its promises about registers and
// the stack.
//
// TRACEWELL_ROUNDS: how many programs; TRACEWELL_SEED: the first one's seed, so that a program that
// failed runs alone.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ax/disassemble.h"
#include "ax/interpret.h"
#include "native_runner.h"
#include "random_program.h"
#include "sanitized.h"
#include "world.h"

namespace tracewell::axjit {
namespace {

#ifdef TRACEWELL_SANITIZED
constexpr uint64_t kRounds = 20000;
#else
constexpr uint64_t kRounds = 100000;
#endif

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

std::string listing(ax::Code code) {
  std::string all;
  ax::Instruction instruction;
  for (size_t at = 0; decode(code, at, instruction) == ax::Fault::None; at += instruction.size) {
    char line[64];
    disassemble(instruction, line, sizeof line);
    all += fmt::format("{} {}\n", at, line);
  }
  return all;
}

struct Tally {
  uint64_t compared = 0, strayed = 0, faulted_loads = 0;
  uint64_t ends[256] = {};  // by fault
};

class Agreement {
 public:
  Agreement() : registers_(World::registers()), variables_(World::variables()) {
    interpreted_.arena = native_.arena = &arena_;
    interpreted_.connect();
    native_.connect();
  }

  void compare(uint64_t seed) {
    Random random(seed * 0x9e3779b97f4a7c15);
    code_ = random_program(random, arena_.addresses());
    set_up(random);
    const Surroundings surroundings = {registers_, variables_,
                                       random.one_in(4) ? MemoryReads::Called
                                                        : MemoryReads::Direct,
                                       budget(random), random.one_in(2)};
    const Result<Native> compiled = compile(code_, ax::Purpose::Action, surroundings);
    if (!compiled.ok()) {
      ADD_FAILURE() << compiled.error().text() << " (seed " << seed << ")\n" << listing(code_);
      return;
    }
    WorldHost host{interpreted_};
    const ax::Outcome expected = ax::run(code_, host, surroundings.budget);
    if (interpreted_.stray) {
      ++tally.strayed;
      return;
    }
    runner_.load(*compiled);
    const WatchedRun run = runner_.run(native_.context);
    ++tally.compared;
    ++tally.ends[static_cast<size_t>(expected.fault)];
    tally.faulted_loads += run.faults;
    if (!same(expected, run, *compiled))
      ADD_FAILURE() << "seed " << seed << ", registers 0x" << std::hex << run.changed << "\n"
                    << told(expected, run) << listing(code_);
  }

  Tally tally;

 private:
  void set_up(Random& random) {
    for (uint64_t& word : native_.saved) word = random() >> random.below(64);
    for (size_t i = 0; i < 4; ++i)
      native_.saved[i] = arena_.addresses()[random.below(arena_.addresses().size())];
    native_.before[0] = random();
    for (uint64_t& cell : native_.cells) cell = random.one_in(2) ? random.below(4) : random();
    native_.fails_at = random.one_in(4) ? random.below(6) : UINT64_MAX;
    std::ranges::copy(native_.saved, interpreted_.saved);
    std::ranges::copy(native_.before, interpreted_.before);
    std::ranges::copy(native_.cells, interpreted_.cells);
    interpreted_.fails_at = native_.fails_at;
    for (World* world : {&native_, &interpreted_}) {
      world->ticks = world->asked = 0;
      world->fault_address = world->context.fault_address = 0;
      world->stray = false;
      world->events.clear();
    }
  }

  static size_t budget(Random& random) {
    if (random.one_in(8)) return random.below(40);
    return random.one_in(100) ? ax::kBudget : 200 + random.below(200);
  }

  bool same(const ax::Outcome& expected, const WatchedRun& run, const Native& compiled) const {
    const uint64_t status = run.outcome.status;
    return (status & TRACEWELL_NATIVE_FAULT_MASK) == static_cast<uint64_t>(expected.fault) &&
           (status & TRACEWELL_NATIVE_NO_VALUE) == (expected.has_value ? 0u : 0x100u) &&
           status >> TRACEWELL_NATIVE_OFFSET_SHIFT == expected.offset &&
           run.outcome.value == expected.value && interpreted_.events == native_.events &&
           interpreted_.fault_address == native_.context.fault_address &&
           interpreted_.ticks == native_.ticks &&
           std::equal(std::begin(native_.cells), std::end(native_.cells), interpreted_.cells) &&
           (run.changed & ~compiled.clobbers) == 0 && run.context_kept && run.within_stack;
  }

  std::string told(const ax::Outcome& expected, const WatchedRun& run) const {
    return fmt::format(
        "{} at {}, value {:#x}, {} events, fault address {:#x}; native: {} at {}, value {:#x}, {} "
        "events, fault address {:#x}; context kept {}, within stack {}\n",
        ax::fault_text(expected.fault), expected.offset, expected.value,
        interpreted_.events.size(), interpreted_.fault_address,
        ax::fault_text(static_cast<ax::Fault>(run.outcome.status & 0xff)),
        run.outcome.status >> TRACEWELL_NATIVE_OFFSET_SHIFT, run.outcome.value,
        native_.events.size(), native_.context.fault_address, run.context_kept, run.within_stack);
  }

  Arena arena_;
  NativeRunner runner_;
  World interpreted_, native_;
  std::vector<RegisterPlace> registers_;
  std::vector<VariablePlace> variables_;
  std::vector<uint8_t> code_;
};

TEST(Agreement, RandomPrograms) {
  const uint64_t first = number_from("TRACEWELL_SEED", 0);
  const uint64_t rounds =
      number_from("TRACEWELL_ROUNDS", std::getenv("TRACEWELL_SEED") != nullptr ? 1 : kRounds);
  Agreement agreement;
  for (uint64_t i = 0; i < rounds && !testing::Test::HasFailure(); ++i)
    agreement.compare(first + i);

  const Tally& tally = agreement.tally;
  fmt::print("{} programs agreed, {} read memory of the test itself and were left out; {} loads "
             "faulted\n",
             tally.compared, tally.strayed, tally.faulted_loads);
  for (size_t fault = 0; fault < std::size(tally.ends); ++fault) {
    if (tally.ends[fault] > 0)
      fmt::print("  {:10} {}\n", tally.ends[fault], ax::fault_text(static_cast<ax::Fault>(fault)));
  }
  if (rounds < kRounds) return;
  // All ways to end were taken, often enough.
  for (const ax::Fault fault :
       {ax::Fault::None, ax::Fault::DivideByZero, ax::Fault::MemoryAccess,
        ax::Fault::RegisterAccess, ax::Fault::BudgetExceeded, ax::Fault::NotRecorded,
        ax::Fault::PrintFailed})
    EXPECT_GT(tally.ends[static_cast<size_t>(fault)], rounds / 1000) << ax::fault_text(fault);
  EXPECT_GT(tally.faulted_loads, rounds / 100);
  EXPECT_LT(tally.strayed, rounds / 20);
}

}  // namespace
}  // namespace tracewell::axjit
