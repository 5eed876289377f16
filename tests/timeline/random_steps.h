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

namespace tracewell::timeline::test {

struct RandomOptions {
  uint32_t steps = 1000;
  unsigned threads = 1;
  bool is_64 = true;
  unsigned sessions_per_mille = 0;  // of steps
  unsigned losses_per_mille = 0;    // of steps
};

class RandomSteps {
 public:
  RandomSteps(uint32_t seed, const RandomOptions& options) : random_(seed), options_(options) {
    catalog.machine = options.is_64 ? "x86-64" : "i386";
    catalog.address_bytes = options.is_64 ? 8 : 4;
    catalog.registers = options.is_64 ? machine::x86_64_layout({}) : machine::i386_layout({});
    top_ = options.is_64 ? UINT64_MAX : UINT32_MAX;
    for (uint32_t i = 0; i < options.steps; ++i) add_step(i);
  }

  Catalog catalog;
  std::span<const Event> events() const { return batch_.events(); }

  /// Where steps, and accesses, are; with some places where none is.
  uint64_t some_pc() { return 0x401000 + below(120); }
  uint64_t some_address() {
    switch (below(8)) {
      case 0: return top_ - below(40);
      case 1: return below(20);
      default: return 0x7000 + below(options_.steps < 2000 ? 200 : 2000);
    }
  }
  uint64_t below(uint64_t limit) { return random_() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }

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
    }
    if (options_.losses_per_mille != 0 && below(1000) < options_.losses_per_mille) {
      Event& lost = batch_.add();
      lost.seq = seq;
      lost.body = Lost{0, "a gap"};
    }
    if (chance(10)) current_ = 1 + below(options_.threads);
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
    add_memory(step);
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
  Bytes some_bytes(size_t size) {
    std::vector<uint8_t> bytes(size);
    // Small numbers, and repeated ones, are what programs have.
    for (uint8_t& byte : bytes) byte = chance(60) ? 0 : static_cast<uint8_t>(below(3));
    return batch_.copy(Bytes(bytes));
  }

  void go_on(Thread& thread, Step& step) {
    static constexpr uint8_t kNop[] = {0x90}, kMove[] = {0x89, 0xc0}, kJump[] = {0xeb, 0x00},
                             kCall[] = {0xe8, 0, 0, 0, 0}, kReturn[] = {0xc3}, kBad[] = {0x06};
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

  void add_memory(Step& step) {
    std::vector<Step::MemoryAccess> accesses;
    for (uint64_t i = chance(60) ? 1 + below(2) : 0; i > 0; --i) {
      Step::MemoryAccess access;
      // Sometimes where the last one was.
      access.address = accesses.empty() || chance(70) ? some_address()
                                                      : accesses.back().address + below(4);
      access.kind = static_cast<Step::MemoryAccess::Kind>(below(4));
      static constexpr uint32_t kSizes[] = {1, 2, 4, 8, 8, 10, 16, 32};
      access.size = chance(98) ? kSizes[below(8)] : static_cast<uint32_t>(below(600));
      if (chance(90)) access.old_bytes = content(access.address, access.size);
      const bool changes = access.kind == Step::MemoryAccess::Kind::Write ||
                           access.kind == Step::MemoryAccess::Kind::ReadWrite || chance(3);
      if (changes && chance(80)) {
        access.new_bytes = some_bytes(access.size);
        for (uint32_t n = 0; n < access.size; ++n)
          memory_[access.address + n] = access.new_bytes[n];
      }
      accesses.push_back(access);
    }
    step.memory = batch_.copy_array(std::span<const Step::MemoryAccess>(accesses));
  }
  Bytes content(uint64_t address, uint32_t size) {
    std::vector<uint8_t> bytes(size);
    for (uint32_t i = 0; i < size; ++i) {
      uint8_t& byte = memory_[address + i];
      if (chance(2)) byte = static_cast<uint8_t>(below(256));  // somebody else's doing
      bytes[i] = byte;
    }
    return batch_.copy(Bytes(bytes));
  }

  std::mt19937_64 random_;
  RandomOptions options_;
  uint64_t top_ = UINT64_MAX;
  Batch batch_;
  uint64_t current_ = 1;
  std::map<uint64_t, Thread> threads_;
  std::map<uint64_t, uint8_t> memory_;
};

}  // namespace tracewell::timeline::test
