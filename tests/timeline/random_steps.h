// Random traces of steps, seeded: threads that jump, call and return, memory that others change
// behind their backs, values that nobody saw, sessions that begin in the middle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "machine/x86.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "list_source.h"
#include "timeline/random_accesses.h"

namespace tracewell::timeline::test {

class RandomSteps : public RandomAccesses {
 public:
  RandomSteps(uint32_t seed, const RandomOptions& options) : RandomAccesses(seed, options) {
    catalog.machine = options.is_64 ? "x86-64" : "i386";
    catalog.address_bytes = options.is_64 ? 8 : 4;
    catalog.registers = options.is_64 ? machine::x86_64_layout({}) : machine::i386_layout({});
    for (uint32_t i = 0; i < options.steps; ++i) add_step(i);
  }

  Catalog catalog;
  std::span<const Event> events() const { return batch_.events(); }

  /// Where steps are; with some places where none is.
  uint64_t some_pc() { return 0x401000 + below(120); }

 private:
  struct Thread {
    uint64_t pc = 0x401000;
    std::vector<uint64_t> calls;
    bool told = false;
    bool after_unknown = false;
  };

  void add_step(uint64_t seq) {
    if (seq != 0 && below(1000) < options_.sessions_per_mille) {
      Event& mark = batch_.add();
      mark.seq = seq;
      mark.body = Mark{"session", true};
      threads_.clear();
      others_write(seq, {});
    }
    if (options_.losses_per_mille != 0 && below(1000) < options_.losses_per_mille) {
      Event& lost = batch_.add();
      lost.seq = seq;
      lost.body = Lost{0, "a gap"};
      others_write(seq, {});
    }
    const uint64_t last = current_;
    if (chance(10)) current_ = 1 + below(options_.threads);
    if (current_ != last) others_write(seq, {});
    Thread& thread = threads_[current_];
    Step step;
    step.pc = thread.pc;
    std::vector<Step::RegisterChange> before, after;
    // What was not seen behind the last step is told now, and sometimes what others changed.
    const uint64_t news = !thread.told ? 12 : thread.after_unknown ? 4 : chance(5) ? 2 : 0;
    for (uint64_t i = 0; i < news; ++i) {
      const Step::RegisterChange one = change(false);
      const bool told = std::any_of(before.begin(), before.end(),
                                    [&](const auto& other) { return other.index == one.index; });
      if (!told) before.push_back(one);
    }
    thread.told = true;
    for (uint64_t i = below(3); i > 0; --i) after.push_back(change(chance(5)));
    step.before = batch_.copy_array(std::span<const Step::RegisterChange>(before));
    step.registers = batch_.copy_array(std::span<const Step::RegisterChange>(after));
    step.after_known = !chance(5);
    thread.after_unknown = !step.after_known;
    go_on(thread, step);
    add_memory(seq, step);
    if (is_call_) others_write(seq + 1, step.memory);
    Event& event = batch_.add();
    event.seq = seq;
    event.tid = current_ * 100;
    event.body = step;
  }

  Step::RegisterChange change(bool unknown) {
    const auto index = static_cast<uint32_t>(below(18));
    if (unknown) return {index, {}};
    return {index, some_bytes(catalog.registers.registers[index].size_bytes)};
  }
  void go_on(Thread& thread, Step& step) {
    static constexpr uint8_t kNop[] = {0x90}, kMove[] = {0x89, 0xc0}, kJump[] = {0xeb, 0x00},
                             kCall[] = {0xe8, 0, 0, 0, 0}, kReturn[] = {0xc3}, kBad[] = {0x06};
    is_call_ = options_.calls_per_mille != 0 && below(1000) < options_.calls_per_mille;
    if (is_call_) {
      static constexpr uint8_t kCalls[][2] = {
          {0x0f, 0x34}, {0xcd, 0x80}, {0xcd, 0x2e}, {0x0f, 0x05}};
      step.opcode = kCalls[below(options_.is_64 ? 4 : 3)];
      thread.pc += 2;
      return;
    }
    switch (below(10)) {
      case 0:
        step.opcode = kJump;
        thread.pc = some_pc();
        return;
      case 1:
        step.opcode = kCall;
        thread.calls.push_back(thread.pc + sizeof(kCall));
        thread.pc = some_pc();
        return;
      case 2:
        step.opcode = kReturn;
        thread.pc = thread.calls.empty() || chance(10) ? some_pc() : thread.calls.back();
        if (!thread.calls.empty()) thread.calls.pop_back();
        return;
      case 3:
        step.opcode = kMove;
        break;
      case 4:
        if (!chance(5)) break;
        step.opcode = kBad;  // in 64-bit code
        break;
      default:
        step.opcode = kNop;
    }
    if (step.opcode.empty()) step.opcode = kNop;
    thread.pc = chance(2) ? some_pc() : thread.pc + step.opcode.size();
  }

  uint64_t current_ = 1;
  std::map<uint64_t, Thread> threads_;
  bool is_call_ = false;  // the step in the making
};

}  // namespace tracewell::timeline::test
