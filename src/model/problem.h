// Problem: bad data is counted and located, not fatal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tracewell {

struct Problem {
  enum class Severity : uint8_t { Note, Warning, Damage };

  std::optional<uint64_t> offset;  // byte offset in the input
  Severity severity = Severity::Warning;
  std::string code;  // stable, kebab-case: "frame-cut", "second-status"
  std::string text;  // what is wrong and what was done about it
};

/// Collects problems. Keeps the first kKeptMax of each code in full and counts the rest, so that a
/// thoroughly broken file cannot fill memory.
class ProblemLog {
 public:
  static constexpr size_t kKeptMax = 100;

  void add(Problem problem);
  const std::vector<Problem>& kept() const { return kept_; }
  /// All that were added, kept or not, of this severity or worse.
  uint64_t count(Problem::Severity at_least = Problem::Severity::Note) const;
  bool empty() const { return count() == 0; }
  /// `--strict`: the first problem of severity Warning or worse, as an Error.
  Status strict() const;

 private:
  std::vector<Problem> kept_;
  std::vector<std::pair<std::string, uint64_t>> counts_by_code_;
  uint64_t counts_[3] = {};
};

std::string_view severity_name(Problem::Severity severity);

}  // namespace tracewell
