// A small model of x64dbg's recorder, written from the description of the format alone: it shares
// no code with what it tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/text/hex.h"
#include "formats/support.h"
#include "formats/trace64/read_back.h"

namespace tracewell::formats::test {

constexpr const char* kJson64 = R"({"ver":1,"arch":"x64","hashAlgorithm":"murmurhash",)"
                                R"("hash":"0x1F","compression":"","path":"C:\\a.exe"})";
constexpr const char* kJson32 = R"({"ver":1,"arch":"x86","hashAlgorithm":"murmurhash",)"
                                R"("hash":"0x1F","compression":"","path":"C:\\a.exe"})";

/// A number in little-endian bytes.
inline std::string le(uint64_t value, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string head(const std::string& json) { return "TRAC" + le(json.size(), 4) + json; }
inline const std::string kHead64 = head(kJson64);

struct Entry {
  uint64_t address = 0, old_word = 0;
  std::optional<uint64_t> new_word;  // none: unchanged
  uint8_t more_flags = 0;
};

/// One block, each part as it is to stand in the file.
struct RawBlock {
  bool wide = true;
  std::string opcode = "\x90";
  std::vector<std::pair<uint32_t, uint64_t>> words;  // ascending
  std::vector<Entry> entries;
  std::optional<uint32_t> tid;
  bool flagged = true;  // when there is a tid
  uint8_t more_flags = 0;

  std::string bytes() const {
    const size_t p = wide ? 8 : 4;
    std::string out(1, '\0');
    out += static_cast<char>(words.size());
    out += static_cast<char>(entries.size());
    out += static_cast<char>((tid && flagged ? 0x80u : 0u) | more_flags | opcode.size());
    if (tid) out += le(*tid, 4);
    out += opcode;
    uint32_t next = 0;
    for (const auto& [word, value] : words) {
      out += static_cast<char>(word - next);
      next = word + 1;
    }
    for (const auto& one : words) out += le(one.second, p);
    for (const Entry& one : entries)
      out += static_cast<char>((one.new_word ? 0 : 1) | one.more_flags);
    for (const Entry& one : entries) out += le(one.address, p);
    for (const Entry& one : entries) out += le(one.old_word, p);
    for (const Entry& one : entries)
      if (one.new_word) out += le(*one.new_word, p);
    return out;
  }
};

/// All words, zero but for those given.
inline RawBlock full_block(uint32_t tid, const std::map<uint32_t, uint64_t>& values,
                           bool wide = true) {
  RawBlock out;
  out.wide = wide;
  out.tid = tid;
  for (uint32_t word = 0; word < (wide ? 172u : 216u); ++word)
    out.words.emplace_back(word, values.contains(word) ? values.at(word) : 0);
  return out;
}

/// What the recorder sees when an instruction is about to run.
struct Moment {
  uint32_t tid = 1000;
  std::vector<uint64_t> words;  // 172 or 216
  std::string opcode = "\x90";
  std::vector<Entry> entries;
};

/// How a recorder of some year writes.
struct Habits {
  bool wide = true;
  bool hides_tids = false;  // 2017 to 2026
};

/// The blocks of one session. The last moment is the one that the recorder had not written yet when
/// it was stopped.
inline std::string record(const std::vector<Moment>& moments, const Habits& habits) {
  std::string out;
  std::vector<bool> changed_before(habits.wide ? 172 : 216, true);
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    const Moment& now = moments[i];
    const Moment& next = moments[i + 1];
    const bool full = i % 512 == 0;
    RawBlock block;
    block.wide = habits.wide;
    block.opcode = now.opcode;
    block.entries = now.entries;
    for (uint32_t word = 0; word < now.words.size(); ++word) {
      const bool changes = now.words[word] != next.words[word];
      if (full || changes || changed_before[word]) block.words.emplace_back(word, now.words[word]);
      changed_before[word] = changes;
    }
    const bool announces = full || next.tid != now.tid;
    const bool arrived = i > 0 && moments[i - 1].tid != now.tid;
    if (announces || arrived) block.tid = now.tid;
    block.flagged = announces || !habits.hides_tids;
    out += block.bytes();
  }
  return out;
}

/// Random programs: registers that wander, threads that alternate, memory that is touched. Opcodes
/// are random bytes, or from a list.
class RandomProgram {
 public:
  RandomProgram(uint32_t seed, bool wide, uint32_t threads, uint32_t switch_percent)
      : random_(seed), wide_(wide), switch_percent_(switch_percent) {
    for (uint32_t i = 0; i < threads; ++i) {
      Moment one;
      one.tid = 4000 + 4 * i;
      one.words.resize(wide ? 172 : 216);
      for (uint64_t& word : one.words) word = number();
      threads_.push_back(std::move(one));
    }
  }

  Moment next() {
    if (percent(switch_percent_)) at_ = random_() % threads_.size();
    Moment& one = threads_[at_];
    const Moment before = with_access(one);
    one.words[wide_ ? 16 : 8] = cut(one.words[wide_ ? 16 : 8] + one.opcode.size());
    for (uint32_t n = random_() % 3; n > 0; --n) one.words[random_() % (wide_ ? 8 : 8)] = number();
    if (percent(40)) one.words[wide_ ? 17 : 9] ^= 0x40;
    if (percent(5)) one.words[random_() % one.words.size()] = number();
    return before;
  }
  std::vector<Moment> run(size_t count) {
    std::vector<Moment> out;
    for (size_t i = 0; i < count; ++i) out.push_back(next());
    return out;
  }
  uint64_t number() { return cut(random_()); }
  bool percent(uint32_t chance) { return random_() % 100 < chance; }

 private:
  uint64_t cut(uint64_t value) const { return wide_ ? value : value & UINT32_MAX; }
  Moment with_access(Moment& one) {
    one.opcode.assign(1 + random_() % 7, '\0');
    for (char& c : one.opcode) c = static_cast<char>(random_());
    one.entries.clear();
    for (uint32_t n = percent(50) ? 1 + random_() % 3 : 0; n > 0; --n) {
      Entry entry{number(), number(), std::nullopt, 0};
      if (percent(40)) entry.new_word = cut(entry.old_word + 1);
      one.entries.push_back(entry);
    }
    return one;
  }

  std::mt19937_64 random_;
  bool wide_;
  uint32_t switch_percent_;
  std::vector<Moment> threads_;
  size_t at_ = 0;
};

}  // namespace tracewell::formats::test
