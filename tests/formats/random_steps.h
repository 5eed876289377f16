// Random traces of steps for property tests: what formats that show registers before each
// instruction can carry, told as decision 0006 wants it.
#pragma once

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "machine/x86.h"
#include "model/batch.h"
#include "model/catalog.h"

namespace tracewell::formats::test {

class RandomSteps {
 public:
  struct Wanted {
    bool wide = true;         // x86-64, else i386
    uint64_t threads = 1;     // 1: without an id
    bool opcodes = false;
    bool notes = false;
    bool write_unread = false;  // accesses that read and write, of which only the write is known
    /// As Tenet has it: of accesses that read and write only the write is known, and nothing of the
    /// last step's.
    bool as_left = false;
    std::vector<std::string_view> registers;  // that change, in the order in which they are told
  };

  RandomSteps(uint32_t seed, const Wanted& wanted) : random_(seed), wanted_(wanted) {
    catalog.machine = wanted.wide ? "x86-64" : "i386";
    catalog.address_bytes = wanted.wide ? 8 : 4;
    catalog.registers = wanted.wide ? machine::x86_64_layout({}) : machine::i386_layout({});
    for (const std::string_view name : wanted.registers)
      indices_.push_back(static_cast<uint32_t>(catalog.registers.find(name) -
                                               catalog.registers.registers.data()));
    const size_t steps = 1 + below(200);
    for (size_t i = 0; i < steps; ++i) make_step(i);
    if (!wanted.as_left) return;
    auto& last = std::get<Step>(batch_.events()[last_].body);
    last.memory = {};
    last.memory_incomplete = true;
  }

  Catalog catalog;
  const Batch& events() const { return batch_; }
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  using Changes = std::vector<Step::RegisterChange>;

  void make_step(size_t seq) {
    const uint64_t tid = wanted_.threads == 1 ? 0 : 1 + below(wanted_.threads);
    const Changes changes = make_changes(tid);
    const auto shown = batch_.copy_array(std::span<const Step::RegisterChange>(changes));
    Step step;
    if (last_ != SIZE_MAX && batch_.events()[last_].tid == tid) {
      auto& before = std::get<Step>(batch_.events()[last_].body);
      before.registers = shown;
      before.after_known = true;
    } else {
      step.before = shown;
    }
    step.after_known = false;
    step.pc = word();
    if (wanted_.opcodes) step.opcode = bytes(1 + below(15));
    make_memory(step);
    if (wanted_.notes && below(10) == 0) {
      Event& mark = batch_.add();
      mark.seq = seq;
      mark.tid = tid;
      mark.body = Mark{batch_.copy(std::string_view(below(2) ? "a note" : "\"two\"\nlines"))};
    }
    last_ = batch_.events().size();
    Event& event = batch_.add();
    event.seq = seq;
    event.tid = tid;
    event.body = step;
  }

  /// At a thread's first step all of its registers, then some, to other values than they have.
  Changes make_changes(uint64_t tid) {
    auto [found, first] = values_.try_emplace(tid);
    found->second.resize(indices_.size());
    Changes changes;
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (!first && below(8) != 0) continue;
      std::vector<uint8_t>& value = found->second[i];
      const std::vector<uint8_t> old = value;
      value.resize(catalog.registers.registers[indices_[i]].size_bytes);
      do {
        for (uint8_t& byte : value) byte = static_cast<uint8_t>(below(3) ? 0 : below(256));
      } while (value == old);
      changes.push_back({indices_[i], batch_.copy(Bytes(value))});
    }
    return changes;
  }

  /// Accesses of 1, 2, 4 or 8 bytes inside of eight, each at a place of its own.
  void make_memory(Step& step) {
    using Kind = Step::MemoryAccess::Kind;
    std::vector<Step::MemoryAccess> accesses;
    for (uint64_t n = below(4); n > 0; --n) {
      Step::MemoryAccess access;
      access.size = 1u << below(4);
      const uint64_t cell = wanted_.wide ? random_() : below(UINT32_MAX);
      access.address = (cell & ~uint64_t{0xff}) + n * 16 + below(9 - access.size);
      access.kind = static_cast<Kind>(below(3));
      const bool unread = access.kind == Kind::ReadWrite &&
                          (wanted_.as_left || (wanted_.write_unread && below(2) == 0));
      if (access.kind != Kind::Write && !unread) access.old_bytes = bytes(access.size);
      if (access.kind != Kind::Read) access.new_bytes = bytes(access.size);
      accesses.push_back(access);
    }
    step.memory = batch_.copy_array(std::span<const Step::MemoryAccess>(accesses));
  }

  uint64_t word() { return wanted_.wide ? random_() : below(UINT32_MAX); }
  Bytes bytes(size_t size) {
    std::vector<uint8_t> out(size);
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(below(256));
    return batch_.copy(Bytes(out));
  }

  std::mt19937_64 random_;
  Wanted wanted_;
  std::vector<uint32_t> indices_;
  std::map<uint64_t, std::vector<std::vector<uint8_t>>> values_;  // by thread
  Batch batch_;
  size_t last_ = SIZE_MAX;  // the last step
};

}  // namespace tracewell::formats::test
