// Runs of random programs: what diff should find out about two of them can be told beforehand.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "machine/x86.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "timeline/diff_program.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"

namespace tracewell::timeline::test {

/// What a run decides: which way a branch goes, how often a loop runs. Each place of the program
/// has its answer, but for one question.
struct Decisions {
  uint64_t seed = 0;
  uint64_t change_at = UINT64_MAX;  // the number of the question that is answered otherwise
  uint64_t extra_rounds = 0;
  uint64_t asked = 0;
  Node::Kind changed_kind = Node::Kind::Plain;
  uint64_t rounds_before = 0;  // the answer that was changed
  size_t steps_before = 0;     // that had run when it was asked

  bool branch(const Node& node, size_t steps) {
    const bool answer = number(node) % 2 == 0;
    if (!change(node, steps)) return answer;
    return !answer;
  }
  uint64_t rounds(const Node& node, size_t steps) {
    const uint64_t answer = 1 + number(node) % 4;
    if (!change(node, steps)) return answer;
    rounds_before = answer;
    return answer + extra_rounds;
  }

 private:
  uint64_t number(const Node& node) const {
    return ((seed ^ node.pcs[0] ^ node.module << 40) * 0x9e3779b97f4a7c15) >> 32;
  }
  bool change(const Node& node, size_t steps) {
    if (asked++ != change_at) return false;
    changed_kind = node.kind;
    steps_before = steps;
    return true;
  }
};

/// The steps of one run of a program, with its modules at `bases`.
class ProgramRun {
 public:
  struct Item {
    uint64_t pc;
    const std::vector<uint8_t>* code;
  };
  ProgramRun(const RandomProgram& program, Decisions& decisions, std::vector<uint64_t> bases)
      : decisions_(decisions), bases_(std::move(bases)) {
    all(program.main);
  }
  std::vector<Item> items;

 private:
  void put(size_t module, uint64_t pc, const std::vector<uint8_t>& code) {
    items.push_back({bases_[module] + pc, &code});
  }
  void all(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) one(node);
  }
  void one(const Node& node) {
    switch (node.kind) {
      case Node::Kind::Plain:
        for (const uint64_t pc : node.pcs)
          put(node.module, pc, nop());
        return;
      case Node::Kind::Branch: {
        put(node.module, node.pcs[0], jump_if());
        const bool way = decisions_.branch(node, items.size());
        all(way ? node.first : node.second);
        if (way) put(node.module, node.back_jump, jump());
        return;
      }
      case Node::Kind::Loop:
        for (uint64_t n = decisions_.rounds(node, items.size()); n > 0; --n) {
          all(node.first);
          put(node.module, node.pcs[0], jump_if());
        }
        return;
      case Node::Kind::While:
        for (uint64_t n = decisions_.rounds(node, items.size()); n > 0; --n) {
          all(node.second);
          put(node.module, node.pcs[0], jump_if());
          all(node.first);
          put(node.module, node.back_jump, jump());
        }
        all(node.second);
        put(node.module, node.pcs[0], jump_if());
        return;
      case Node::Kind::Call:
        put(node.module, node.pcs[0], call());
        all(node.first);
        put(node.callee, node.return_pc, ret());
        return;
    }
  }

  Decisions& decisions_;
  std::vector<uint64_t> bases_;
};

using Items = std::vector<ProgramRun::Item>;

/// Several threads' steps in one trace, in turns that `seed` decides.
inline std::unique_ptr<StepStore> trace_of(const std::vector<Items>& threads, uint32_t seed,
                                           uint64_t first_tid, bool wide = true) {
  std::mt19937_64 random(seed);
  Catalog catalog;
  catalog.machine = wide ? "x86-64" : "i386";
  catalog.address_bytes = wide ? 8 : 4;
  if (wide) catalog.registers = machine::x86_64_layout({});
  Batch batch;
  std::vector<size_t> at(threads.size(), 0);
  // The order of first steps is what threads are matched by.
  for (uint64_t seq = 0;; ++seq) {
    size_t which = seq < threads.size() ? seq : random() % threads.size();
    size_t tried = 0;
    while (tried < threads.size() && at[which] == threads[which].size()) {
      which = (which + 1) % threads.size();
      ++tried;
    }
    if (tried == threads.size()) break;
    const ProgramRun::Item& item = threads[which][at[which]++];
    Step step;
    step.pc = item.pc;
    step.opcode = *item.code;
    Event& event = batch.add();
    event.seq = seq;
    event.tid = first_tid + which;
    event.body = step;
  }
  tracewell::test::ListSource source(catalog, batch.events());
  auto store = StepStore::read(source);
  return store.ok() ? std::move(*store) : nullptr;
}

}  // namespace tracewell::timeline::test
