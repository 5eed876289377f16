// The registers of all threads of a trace that is being written: some thousand of them as they are
// used, the others small.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "formats/trace64/blocks/words.h"

namespace tracewell::formats::trace64 {

using WordSet = std::bitset<kWordsMax>;
using RegisterSet = std::bitset<kRegistersMax>;
/// A register dump, and which of its words are known.
struct KnownDump {
  std::array<uint8_t, kDumpBytesMax> bytes = {};
  WordSet valid;
};
struct WrittenThread {
  RegisterState registers;  // in WordMap's layout
  KnownDump dump;
  RegisterSet known;
};

class WrittenThreads {
 public:
  static constexpr size_t kOpenMax = 1024;
  static constexpr uint64_t kPackedBytesMax = 512 << 20;

  /// Nothing is known of a new one. Stays until the next call. Limit: they do not fit into memory.
  Result<WrittenThread*> of(const WordMap& map, uint32_t tid);
  void clear();

 private:
  void pack_one();
  void unpack(uint32_t tid, WrittenThread& thread);

  std::unordered_map<uint32_t, WrittenThread> open_;
  std::vector<uint32_t> order_;  // of open_: a ring
  size_t oldest_ = 0;
  std::unordered_map<uint32_t, std::vector<uint8_t>> packed_;
  uint64_t packed_bytes_ = 0;
  std::vector<uint8_t> flat_;
};

}  // namespace tracewell::formats::trace64
