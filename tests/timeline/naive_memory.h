// What memory held, by all that was ever told of each byte.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/event.h"

namespace tracewell::timeline::test {

class NaiveMemory {
 public:
  /// By ascending step.
  void add(uint64_t step, unsigned stretch, const Step::MemoryAccess& access) {
    using Kind = Step::MemoryAccess::Kind;
    const bool writes = access.kind == Kind::Write || access.kind == Kind::ReadWrite;
    for (uint64_t i = 0; i < access.size && access.address + i >= access.address; ++i) {
      std::vector<Fact>& facts = bytes_[access.address + i];
      if (facts.empty() || facts.back().step != step) facts.push_back({step, stretch, {}, {}});
      Fact& fact = facts.back();
      if (!access.old_bytes.empty() && !fact.touched) {
        fact.before = fact.after = access.old_bytes[i];
        fact.lost = false;
      }
      if (!access.new_bytes.empty()) {
        fact.after = access.new_bytes[i];
        fact.lost = false;
      } else if (writes && access.old_bytes.empty()) {
        fact.after = std::nullopt;
        fact.lost = true;
      }
      fact.touched |= access.kind != Kind::Nearby;
    }
  }

  /// Before step `at`, which is of a stretch.
  std::optional<uint8_t> byte(uint64_t at, unsigned stretch, uint64_t address) const {
    const auto found = bytes_.find(address);
    if (found == bytes_.end()) return std::nullopt;
    std::optional<uint8_t> content;
    for (const Fact& fact : found->second) {
      if (fact.stretch != stretch) continue;
      if (fact.step < at) {
        if (fact.before) content = fact.before;
        if (fact.lost) content = std::nullopt;
        if (fact.after) content = fact.after;
      } else if (fact.step == at && fact.before) {
        return fact.before;
      } else if (content) {
        return content;
      } else if (fact.before) {
        return fact.before;
      } else if (fact.lost || fact.after) {
        return std::nullopt;
      }
    }
    return content;
  }

 private:
  /// What a step tells of a byte.
  struct Fact {
    uint64_t step = 0;
    unsigned stretch = 0;
    std::optional<uint8_t> before, after;
    bool lost = false;     // overwritten with nobody knows what
    bool touched = false;  // by an access, not only beside one
  };
  std::map<uint64_t, std::vector<Fact>> bytes_;
};

}  // namespace tracewell::timeline::test
