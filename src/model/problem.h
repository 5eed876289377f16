// Problem: bad data is counted and located, not fatal.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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
  /// What the problems are of, for that error.
  void name(std::string source) { source_ = std::move(source); }

  /// As if all of the other's problems had been added one by one.
  void add_all(const ProblemLog& other);
  /// Problems that are counted, and not kept.
  struct Beyond {
    std::string code;
    Problem::Severity severity = Problem::Severity::Warning;
    uint64_t count = 0;
  };
  std::vector<Beyond> beyond() const;
  void add_beyond(const Beyond& more);

 private:
  struct ByCode {
    std::string code;
    uint64_t kept = 0;
    std::array<uint64_t, 3> beyond = {};  // by severity
  };
  ByCode& by_code(const std::string& code);

  std::string source_;
  std::vector<Problem> kept_;
  std::vector<ByCode> by_code_;
  std::array<uint64_t, 3> counts_ = {};  // by severity
};

std::string_view severity_name(Problem::Severity severity);
/// "warning frame-cut at 0x12: text", for people and scripts; safe to print.
std::string problem_line(const Problem& problem);

}  // namespace tracewell
