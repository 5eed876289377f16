#include "filter/answer_cache.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tracewell::filter {

AnswerCache::Key AnswerCache::key(uint32_t question, Bytes opcode, uint64_t pc) {
  TW_CHECK(opcode.size() <= kOpcodeMax);
  Key out;
  std::ranges::copy(opcode, out.opcode.begin());
  out.opcode.back() = static_cast<uint8_t>(opcode.size());
  out.pc = pc;
  out.question = question;
  return out;
}

size_t AnswerCache::home_of(const Key& key) {
  uint64_t low = 0, high = 0;
  std::memcpy(&low, key.opcode.data(), sizeof low);
  std::memcpy(&high, key.opcode.data() + sizeof low, sizeof high);
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // spreads each bit over those above it
  uint64_t hash = (low ^ key.question) * kOdd;
  hash = (hash ^ (hash >> 32) ^ high) * kOdd;
  hash = (hash ^ (hash >> 32) ^ key.pc) * kOdd;
  return (hash >> 32) % kEntries;
}

AnswerCache::Answer AnswerCache::find(const Key& key) const {
  if (entries_.empty()) return Answer::Unknown;
  const size_t home = home_of(key);
  for (size_t i = 0; i < kReach; ++i) {
    const Entry& entry = entries_[(home + i) % kEntries];
    if (entry.answer == Answer::Unknown) break;
    if (entry.key == key) return entry.answer;
  }
  return Answer::Unknown;
}

void AnswerCache::put(const Key& key, Answer answer) {
  if (entries_.empty()) entries_.resize(kEntries);
  const size_t home = home_of(key);
  for (size_t i = 0; i < kReach; ++i) {
    Entry& entry = entries_[(home + i) % kEntries];
    if (entry.answer != Answer::Unknown) continue;
    entry = {key, answer};
    return;
  }
  // Entries never become free again, so that a search may end at a free one.
  entries_[(home + next_victim_++ % kReach) % kEntries] = {key, answer};
}

}  // namespace tracewell::filter
