// What an x64dbg trace reads as, kept.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/support.h"

namespace tracewell::formats::test {

/// All events of a file, and what its reader complains of.
struct ReadBack {
  explicit ReadBack(const std::string& bytes) : opened(bytes, "trace64") {
    if (!opened.source) return;
    Batch batch;
    while (*opened.source->next(batch)) {
      for (const Event& event : batch.events()) {
        if (const auto* step = std::get_if<Step>(&event.body)) {
          steps.push_back(*step);
          own(steps.back());
          tids.push_back(event.tid);
          EXPECT_EQ(event.seq, steps.size() - 1);
        } else if (const auto* mark = std::get_if<Mark>(&event.body)) {
          if (mark->session) sessions.push_back(event.seq);
        } else {
          lost.push_back(event.seq);
        }
      }
    }
  }
  size_t problems(std::string_view code) const {
    size_t count = 0;
    for (const Problem& one : opened.problems->kept()) count += one.code == code;
    return count;
  }
  uint64_t bad() const { return opened.problems->count(Problem::Severity::Warning); }
  /// The register's value among these, or none.
  std::optional<uint64_t> value(std::span<const Step::RegisterChange> in,
                                std::string_view name) const {
    for (const auto& change : in)
      if (opened.source->catalog().registers.registers[change.index].name == name &&
          !change.value.empty())
        return load_uint(change.value.data(), std::min<size_t>(change.value.size(), 8),
                         Endian::Little);
    return std::nullopt;
  }

  Opened opened;
  std::vector<Step> steps;
  std::vector<uint64_t> tids, sessions, lost;

 private:
  void own(Step& step) {
    step.opcode = keep.copy(step.opcode);
    step.stored = keep.copy(step.stored);
    for (auto* list : {&step.before, &step.registers}) {
      std::vector<Step::RegisterChange> copy(list->begin(), list->end());
      for (auto& one : copy) one.value = keep.copy(one.value);
      *list = keep.copy_array(std::span<const Step::RegisterChange>(copy));
    }
    std::vector<Step::MemoryAccess> copy(step.memory.begin(), step.memory.end());
    for (auto& one : copy) {
      one.old_bytes = keep.copy(one.old_bytes);
      one.new_bytes = keep.copy(one.new_bytes);
    }
    step.memory = keep.copy_array(std::span<const Step::MemoryAccess>(copy));
  }
  Batch keep;
};

inline std::string rewritten(const std::string& bytes) {
  Opened opened(bytes, "trace64");
  return opened.source ? written(*opened.source, "trace64") : "error: " + opened.error;
}

}  // namespace tracewell::formats::test
