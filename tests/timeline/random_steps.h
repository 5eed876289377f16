// Random traces of steps, seeded: threads that jump, call and return, calls that are stepped over,
// faults, memory that others change behind their backs, values and accesses that nobody saw,
// sessions that begin in the middle.
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
#include "timeline/naive_flow.h"
#include "timeline/random_accesses.h"

namespace tracewell::timeline::test {

class RandomSteps : public RandomAccesses {
 public:
  RandomSteps(uint32_t seed, const RandomOptions& options) : RandomAccesses(seed, options) {
    catalog.machine = options.is_64 ? "x86-64" : "i386";
    catalog.address_bytes = options.is_64 ? 8 : 4;
    catalog.registers = options.is_64 ? machine::x86_64_layout({}) : machine::i386_layout({});
    for (uint32_t i = 0; i < options.steps; ++i) add_step(i);
    if (options.lost_at_end) add_loss(options.steps);
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

  void add_loss(uint64_t seq) {
    Event& lost = batch_.add();
    lost.seq = seq;
    lost.body = Lost{0, "a gap"};
    others_write(seq, {});
  }

  void add_step(uint64_t seq) {
    if (seq != 0 && below(1000) < options_.sessions_per_mille) {
      Event& mark = batch_.add();
      mark.seq = seq;
      mark.body = Mark{"session", true};
      threads_.clear();
      others_write(seq, {});
    }
    if (options_.losses_per_mille != 0 && below(1000) < options_.losses_per_mille) add_loss(seq);
    const uint64_t last = current_;
    if (chance(10)) current_ = 1 + below(options_.threads);
    if (current_ != last || hidden_) others_write(seq, {});
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
    step.memory_incomplete = is_incomplete_;
    add_memory(seq, step);
    if (is_open_within(step, options_.is_64)) others_write(seq + 1, step.memory);
    hidden_ = !leads_to(step, thread.pc, options_.is_64);
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
  /// Gives the step its instruction, and the thread a place to go on.
  void go_on(Thread& thread, Step& step) {
    is_incomplete_ = false;
    if (options_.calls_per_mille != 0 && below(1000) < options_.calls_per_mille)
      leave(thread, step);
    else if (options_.incomplete_per_mille != 0 && below(1000) < options_.incomplete_per_mille)
      leave_out(thread, step);
    else
      run(thread, step);
    // Exceptions and signals.
    if (chance(2)) thread.pc = some_pc();
  }
  void leave(Thread& thread, Step& step) {
    static constexpr uint8_t kCodes[][2] = {
        {0x0f, 0x34}, {0xcd, 0x80}, {0xcd, 0x2e}, {0x0f, 0x05}, {0xcb}, {0xcf}};
    const size_t code = options_.is_64 || chance(40) ? below(6) : below(3);
    step.opcode = Bytes(kCodes[code]).first(code < 4 ? 2 : 1);
    thread.pc = code < 4 ? thread.pc + 2 : some_pc();
  }
  void leave_out(Thread& thread, Step& step) {
    static constexpr uint8_t kSave[] = {0x0f, 0xae, 0x00}, kLoad[] = {0x8b, 0x00},
                             kStore[] = {0x89, 0x00}, kFill[] = {0xf3, 0xaa}, kNop[] = {0x90};
    const Bytes codes[] = {kSave, kLoad, kStore, kFill, kNop};
    is_incomplete_ = true;
    step.opcode = codes[below(5)];
    thread.pc += step.opcode.size();
  }
  void run(Thread& thread, Step& step) {
    static constexpr uint8_t kNop[] = {0x90}, kMove[] = {0x89, 0xc0}, kReturn[] = {0xc3},
                             kBad[] = {0x06}, kFill[] = {0xf3, 0xaa}, kIndirect[] = {0xff, 0xe0};
    switch (below(10)) {
      case 0:
        if (chance(20)) {
          step.opcode = kIndirect;
          thread.pc = some_pc();
        } else {
          jump(thread, step);
        }
        return;
      case 1:
        call(thread, step);
        return;
      case 2:
        step.opcode = kReturn;
        thread.pc = thread.calls.empty() || chance(10) ? some_pc() : thread.calls.back();
        if (!thread.calls.empty()) thread.calls.pop_back();
        return;
      case 3:
        step.opcode = chance(20) ? Bytes(kFill) : Bytes(kMove);
        if (step.opcode.size() == sizeof kFill && step.opcode[0] == kFill[0] && chance(50)) return;
        break;
      case 4:
        // In 64-bit code it is none.
        step.opcode = chance(5) ? Bytes(kBad) : Bytes(kNop);
        break;
      default:
        step.opcode = kNop;
    }
    thread.pc += step.opcode.size();
  }
  /// An instruction that ends with the distance to a target.
  void lead(Thread& thread, Step& step, std::initializer_list<uint8_t> head, size_t bytes,
            uint64_t target) {
    std::vector<uint8_t> code(head);
    const uint64_t distance = target - (thread.pc + head.size() + bytes);
    for (size_t i = 0; i < bytes; ++i) code.push_back(static_cast<uint8_t>(distance >> (8 * i)));
    step.opcode = batch_.copy(Bytes(code));
  }
  void jump(Thread& thread, Step& step) {
    const uint64_t target = some_pc();
    const bool near = target - thread.pc + 100 < 200;
    const bool conditional = near && chance(40);
    if (conditional)
      lead(thread, step, {0x75}, 1, target);
    else if (near)
      lead(thread, step, {0xeb}, 1, target);
    else
      lead(thread, step, {0xe9}, 4, target);
    thread.pc = conditional && chance(50) ? thread.pc + step.opcode.size() : target;
  }
  /// One in ten is stepped over.
  void call(Thread& thread, Step& step) {
    static constexpr uint8_t kIndirect[] = {0xff, 0xd0};
    const uint64_t target = some_pc();
    if (chance(20))
      step.opcode = kIndirect;
    else
      lead(thread, step, {0xe8}, 4, target);
    const uint64_t behind = thread.pc + step.opcode.size();
    thread.pc = chance(10) ? behind : target;
    if (thread.pc != behind) thread.calls.push_back(behind);
  }

  uint64_t current_ = 1;
  std::map<uint64_t, Thread> threads_;
  bool is_incomplete_ = false;  // the step in the making
  bool hidden_ = false;  // something ran between the last step and its thread's next one
};

}  // namespace tracewell::timeline::test
