// A recorder that is not x64dbg's, and programs for it: what it writes is right by the description
// of the format, which leaves more open than x64dbg uses. Shares no code with what it tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {

/// What one may do that x64dbg does not. Percentages are of all blocks.
struct Liberties {
  bool wide = true;
  uint32_t threads = 1, switch_percent = 0;
  uint32_t repeat_percent = 0;    // thread ids that have not changed
  uint32_t repeat_each = 0;       // one for each that-many-th block; 0: by percentage
  uint32_t user_percent = 0;      // user blocks
  uint32_t dump_every = 512;
  uint32_t bare_percent = 0;      // opcodes of no bytes
  uint32_t crowd_percent = 0;     // 33 to 255 accesses
  uint32_t first_tid = 0x1a4;
};

/// What is to be read of a step.
struct CoherentStep {
  uint32_t tid = 0;
  std::string opcode;
  std::vector<uint64_t> words;  // before it
  std::vector<Entry> entries;
};

/// Threads that run code: the program counter goes on behind each instruction, or where a jump
/// leads; registers hold numbers, addresses and anything.
class CoherentTrace {
 public:
  CoherentTrace(uint64_t seed, const Liberties& how) : random_(seed), how_(how) {
    for (uint32_t i = 0; i < how.threads; ++i) {
      Thread one;
      one.tid = how.first_tid + 4 * i * static_cast<uint32_t>(1 + random_() % 700);
      one.words.resize(how.wide ? 172 : 216);
      for (uint32_t word = 0; word < 16; ++word) one.words[word] = value();
      one.words[pc_word()] = cut(percent(50) ? 0x401000 : 0x7ff6a1b21000);
      threads_.push_back(std::move(one));
    }
    last_.resize(how.wide ? 172 : 216);
  }

  void run(size_t count) {
    for (size_t i = 0; i < count; ++i) step();
  }
  const std::string& blocks() const { return blocks_; }
  std::string file() const { return head(how_.wide ? kJson64 : kJson32) + blocks_; }
  const std::vector<CoherentStep>& steps() const { return steps_; }

 private:
  struct Thread {
    uint32_t tid = 0;
    std::vector<uint64_t> words;
  };
  uint32_t pc_word() const { return how_.wide ? 16 : 8; }
  uint64_t cut(uint64_t value) const { return how_.wide ? value : value & UINT32_MAX; }
  bool percent(uint32_t chance) { return random_() % 100 < chance; }
  uint64_t value() {
    switch (random_() % 6) {
      case 0: return random_() % 200;
      case 1: return cut(0x7ff600000000 + random_() % (1 << 24));
      case 2: return cut(0x14f000 + 8 * (random_() % 512));
      case 3: return cut(0 - random_() % 200);
      case 4: return 0;
      default: return cut(random_());
    }
  }

  std::string instruction() {
    static constexpr std::string_view kCode[] = {
        "90",       "c3",         "55",           "5d",         "50",       "4889e5",
        "8b45f8",   "0100",       "000f",         "83c001",     "7405",     "eb10",
        "4883ec20", "e810000000", "488b0530002000", "0f8480000000", "ff2510000000",
        "660f6f00", "c5fd6f00",   "48b80100000000000000", "8945fc", "31c0", "f3a4", "80380a"};
    if (percent(how_.bare_percent)) return "";
    return text_from_hex(kCode[random_() % std::size(kCode)]).value();
  }
  std::vector<Entry> accesses() {
    size_t count = percent(40) ? 1 + random_() % 2 : 0;
    if (percent(how_.crowd_percent)) count = 33 + random_() % 223;
    std::vector<Entry> out;
    for (; count > 0; --count) {
      out.push_back({cut(0x14f000 + 8 * (random_() % 4096)), value(), std::nullopt, 0});
      if (percent(50)) out.back().new_word = value();
    }
    return out;
  }

  void step() {
    if (percent(how_.switch_percent)) at_ = random_() % threads_.size();
    Thread& thread = threads_[at_];
    CoherentStep now{thread.tid, instruction(), thread.words, accesses()};
    put(now);
    uint64_t& pc = thread.words[pc_word()];
    pc = cut(pc + now.opcode.size() + (percent(10) ? random_() % 256 : 0));
    for (uint64_t n = random_() % 3; n > 0; --n) thread.words[random_() % 8] = value();
    if (percent(30)) thread.words[pc_word() + 1] = 0x202 + (random_() % 8 << 6);
    if (percent(3)) thread.words[random_() % thread.words.size()] = value();
    steps_.push_back(std::move(now));
  }

  void put(const CoherentStep& now) {
    if (percent(how_.user_percent)) {
      const size_t size = random_() % 40;
      blocks_ += static_cast<char>(0x81 + random_() % 63);
      blocks_ += le(size, 4);
      for (size_t i = 0; i < size; ++i) blocks_ += static_cast<char>(random_());
    }
    RawBlock block;
    block.wide = how_.wide;
    block.opcode = now.opcode;
    block.entries = now.entries;
    const size_t seq = steps_.size();
    const bool full = seq == 0 || (how_.dump_every != 0 && seq % how_.dump_every == 0);
    for (uint32_t word = 0; word < now.words.size(); ++word)
      if (full || now.words[word] != last_[word]) block.words.emplace_back(word, now.words[word]);
    last_ = now.words;
    const bool repeats = how_.repeat_each != 0 ? seq % how_.repeat_each == 0
                                               : percent(how_.repeat_percent);
    if (full || repeats || steps_.back().tid != now.tid) block.tid = now.tid;
    blocks_ += block.bytes();
  }

  std::mt19937_64 random_;
  Liberties how_;
  std::vector<Thread> threads_;
  std::vector<uint64_t> last_;  // words as the blocks so far tell them
  size_t at_ = 0;
  std::string blocks_;
  std::vector<CoherentStep> steps_;
};

}  // namespace tracewell::formats::test
