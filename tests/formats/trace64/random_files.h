// Random x64dbg traces: of several threads and sessions, with all that recorders did wrong, whole
// and damaged; and their steps, kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {

/// All that is told of a step, and what its thread's steps so far add up to.
struct Known {
  uint64_t seq = 0, tid = 0, pc = 0;
  std::string opcode, stored;
  bool after_known = true, memory_incomplete = false;
  std::vector<std::pair<uint32_t, std::string>> changes;
  std::vector<std::tuple<uint64_t, int, uint32_t, std::string, std::string>> memory;
  RegisterState before;
};

/// Calls `visit(Known)` for steps from the source's place on, until it says false.
template <class Visit>
void each_step(Source& source, Visit&& visit) {
  const RegisterLayout& layout = source.catalog().registers;
  std::map<uint64_t, RegisterState> threads;
  Batch batch;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session) threads.clear();
      const auto* step = std::get_if<Step>(&event.body);
      if (!step) continue;
      RegisterState& state = threads[event.tid];
      if (state.block.empty()) state.reset(layout);
      for (const auto& change : step->before) state.set(layout, change.index, change.value);
      Known out{event.seq, event.tid, step->pc, std::string(as_text(step->opcode)),
                std::string(as_text(step->stored)), step->after_known, step->memory_incomplete, {},
                {}, state};
      for (const auto& change : step->registers) {
        out.changes.emplace_back(change.index, as_text(change.value));
        state.set(layout, change.index, change.value);
      }
      for (const auto& one : step->memory)
        out.memory.emplace_back(one.address, static_cast<int>(one.kind), one.size,
                                as_text(one.old_bytes), as_text(one.new_bytes));
      if (!visit(out)) return;
    }
  }
}

inline std::vector<Known> all_steps(Source& source) {
  std::vector<Known> out;
  each_step(source, [&](const Known& one) {
    out.push_back(one);
    return true;
  });
  return out;
}

/// A program that looks into its thread's environment block now and then.
inline std::vector<Moment> windows_program(uint32_t seed, bool wide, uint32_t threads,
                                           uint32_t percent, size_t steps) {
  RandomProgram program(seed, wide, threads, percent);
  std::vector<Moment> out = program.run(steps);
  std::map<uint32_t, uint64_t> bases;
  std::mt19937_64 random(seed);
  for (Moment& one : out) {
    // No switch of threads changes everything; here the debug registers are what stays.
    for (uint32_t word = wide ? 20 : 13; word < (wide ? 26 : 19); ++word) one.words[word] = word;
    const bool is_new = !bases.contains(one.tid);
    uint64_t& base = bases[one.tid];
    if (is_new || random() % 500 == 0)
      base = wide ? 0x7ff000000000 + (random() % 4096 << 12) : 0x7ffd0000 + (random() % 16 << 12);
    const uint64_t kind = random() % 20;
    const uint64_t address = base + (kind == 0 ? 0x30 : 0x60);
    if (kind == 0) one.opcode = text_from_hex(wide ? "65488b042530000000" : "64a130000000").value();
    if (kind == 1) one.opcode = text_from_hex("6665488b042560000000").value();
    if (kind == 2) one.opcode = text_from_hex("65488b00").value();
    if (kind <= 2) one.entries = {{kind == 2 ? base + one.words[0] : address, random() % 9, {}, 0}};
  }
  return out;
}

inline std::string file_of(bool wide, const std::string& blocks) {
  return head(wide ? kJson64 : kJson32) + blocks;
}

inline std::string random_file(uint32_t seed) {
  const bool wide = seed % 3 != 2;
  const bool hides = seed % 4 == 1;
  std::string blocks;
  for (uint32_t session = 0; session <= seed % 3; ++session)
    blocks += record(windows_program(seed * 5 + session, wide, 1 + seed % 5, seed % 7 * 6,
                                     300 + seed * 97 % 2500),
                     {wide, hides});
  return file_of(wide, blocks);
}

/// With a few wrong bytes, and perhaps a hole in it or its end missing.
inline std::string damaged(std::string bytes, uint32_t seed) {
  std::mt19937_64 random(seed);
  const size_t first = 8 + load_uint(as_bytes(bytes).data() + 4, 4, Endian::Little);
  for (uint64_t n = 1 + random() % 6; n > 0; --n)
    bytes[first + random() % (bytes.size() - first)] ^= static_cast<char>(1 + random() % 255);
  if (random() % 3 == 0) {
    const size_t from = first + random() % (bytes.size() - first);
    const size_t size = std::min<size_t>(random() % 9000, bytes.size() - from);
    if (random() % 2 == 0)
      bytes.replace(from, size, size, random() % 2 == 0 ? '\0' : '\xff');
    else
      bytes.erase(from, size);
  }
  if (random() % 3 == 0) bytes.resize(std::max(first, bytes.size() - random() % 3000));
  return bytes;
}

}  // namespace tracewell::formats::test
