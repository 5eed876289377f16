// What memory held, and how that is known, by all that was ever told of each byte.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/event.h"
#include "timeline/naive_flow.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {

struct NaiveByte {
  ByteState state = ByteState::Unknown;
  uint8_t value = 0;
  bool operator==(const NaiveByte&) const = default;
};

class NaiveMemory {
 public:
  /// In front of a step others may have written. By ascending moment.
  void open(uint64_t moment, bool within) { openings_.push_back({moment, within}); }
  /// By ascending step.
  void add(uint64_t step, unsigned stretch, const Step::MemoryAccess& access) {
    using Kind = Step::MemoryAccess::Kind;
    const bool writes = access.kind == Kind::Write || access.kind == Kind::ReadWrite;
    const uint64_t size = is_large_write(access) ? kLarge : access.size;
    for (uint64_t i = 0; i < size && access.address + i >= access.address; ++i) {
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
        fact.left = true;
      } else if (writes && access.old_bytes.empty()) {
        fact.after = std::nullopt;
        fact.lost = true;
        fact.left = false;
      }
      fact.touched |= access.kind != Kind::Nearby;
    }
  }

  /// In front of step `at`, which is of a stretch.
  NaiveByte byte(uint64_t at, unsigned stretch, uint64_t address) const {
    const auto found = bytes_.find(address);
    if (found == bytes_.end()) return {};
    const Known known = before(found->second, at, stretch);
    for (const Fact& fact : found->second)
      if (fact.stretch == stretch && fact.step == at && fact.before)
        return {ByteState::Told, *fact.before};
    if (known.value && !opening_behind(known, at)) return {ByteState::Told, *known.value};
    for (const Fact& fact : found->second) {
      if (fact.stretch != stretch || fact.step < at) continue;
      if (any_opening(at + 1, fact.step)) break;
      if (fact.before) return {ByteState::Inferred, *fact.before};
      if (fact.lost || fact.after) break;
    }
    if (known.value) return {ByteState::Kept, *known.value};
    return {};
  }

  /// What step `at` finds otherwise than it was known to be.
  struct Change {
    uint8_t old_byte = 0, new_byte = 0;
    uint64_t since = 0, until = 0;
    bool operator==(const Change&) const = default;
  };
  std::optional<Change> change(uint64_t at, unsigned stretch, uint64_t address) const {
    const auto found = bytes_.find(address);
    if (found == bytes_.end()) return std::nullopt;
    const Known known = before(found->second, at, stretch);
    for (const Fact& fact : found->second) {
      if (fact.stretch != stretch || fact.step != at || !fact.before || !known.value ||
          *known.value == *fact.before)
        continue;
      const auto first = opening_behind(known, at);
      if (!first) return Change{*known.value, *fact.before, at - 1, at};
      uint64_t last = *first;
      for (const Opening& one : openings_)
        if (one.moment <= at) last = std::max(last, one.moment);
      return Change{*known.value, *fact.before, *first - 1, last};
    }
    return std::nullopt;
  }

 private:
  /// What a step tells of a byte.
  struct Fact {
    uint64_t step = 0;
    unsigned stretch = 0;
    std::optional<uint8_t> before, after;
    bool lost = false;     // overwritten with nobody knows what
    bool touched = false;  // by an access, not only beside one
    bool left = false;     // the step told what it left
  };
  struct Opening {
    uint64_t moment = 0;
    bool within = false;  // what the step in front of it left is there
  };
  struct Known {
    std::optional<uint8_t> value;
    uint64_t step = 0;  // that told it
    bool left = false;
  };

  static Known before(const std::vector<Fact>& facts, uint64_t at, unsigned stretch) {
    Known known;
    for (const Fact& fact : facts) {
      if (fact.stretch != stretch || fact.step >= at) continue;
      if (fact.lost) known = {};
      if (fact.after) known = {fact.after, fact.step, fact.left};
    }
    return known;
  }
  bool any_opening(uint64_t from, uint64_t to) const {
    for (const Opening& one : openings_)
      if (one.moment >= from && one.moment <= to) return true;
    return false;
  }
  /// The first one between who told it and a moment.
  std::optional<uint64_t> opening_behind(const Known& known, uint64_t at) const {
    for (const Opening& one : openings_) {
      if (one.moment <= known.step || one.moment > at) continue;
      if (one.within && known.left && one.moment == known.step + 1) continue;
      return one.moment;
    }
    return std::nullopt;
  }

  std::map<uint64_t, std::vector<Fact>> bytes_;
  std::vector<Opening> openings_;
};

}  // namespace tracewell::timeline::test
