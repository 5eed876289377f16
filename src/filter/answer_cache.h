// Answers that depend on an instruction alone, or on its address: a trace of a hundred million
// steps has some thousand different ones.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace tracewell::filter {

/// Remembers some of what it was told: 2 MiB, once it was told something. Used by one thread at a
/// time.
class AnswerCache {
 public:
  static constexpr size_t kEntries = size_t{1} << 16;
  /// Longer than this is no instruction of x86.
  static constexpr size_t kOpcodeMax = 15;

  enum class Answer : uint8_t { Unknown, No, Yes, ByAddress };
  struct Key {
    std::array<uint8_t, kOpcodeMax + 1> opcode = {};  // then zeros, and in the last byte its length
    uint64_t pc = 0;
    uint32_t question = 0;
    bool operator==(const Key&) const = default;
  };
  /// `opcode` has kOpcodeMax bytes at most.
  static Key key(uint32_t question, Bytes opcode, uint64_t pc);

  /// Unknown when it was not told, or has forgotten.
  Answer find(const Key& key) const;
  /// Of a key that is not known. Where there is no room, another one is forgotten.
  void put(const Key& key, Answer answer);

 private:
  /// So many entries, from the one of its hash on, may have a key.
  static constexpr size_t kReach = 8;
  struct Entry {
    Key key;
    Answer answer = Answer::Unknown;  // then it is free
  };
  static size_t home_of(const Key& key);

  std::vector<Entry> entries_;
  size_t next_victim_ = 0;
};

}  // namespace tracewell::filter
