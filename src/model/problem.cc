#include "model/problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell {

ProblemLog::ByCode& ProblemLog::by_code(const std::string& code) {
  const auto at = std::find_if(by_code_.begin(), by_code_.end(),
                               [&](const ByCode& one) { return one.code == code; });
  return at != by_code_.end() ? *at : by_code_.emplace_back(ByCode{code, 0, {}});
}

void ProblemLog::add(Problem problem) {
  const auto severity = static_cast<size_t>(problem.severity);
  ++counts_[severity];
  ByCode& same = by_code(problem.code);
  if (same.kept == kKeptMax) {
    ++same.beyond[severity];
    return;
  }
  ++same.kept;
  kept_.push_back(std::move(problem));
}

void ProblemLog::add_all(const ProblemLog& other) {
  for (const Problem& one : other.kept_) add(one);
  for (const Beyond& one : other.beyond()) add_beyond(one);
}

std::vector<ProblemLog::Beyond> ProblemLog::beyond() const {
  std::vector<Beyond> out;
  for (const ByCode& one : by_code_)
    for (size_t severity = 0; severity < one.beyond.size(); ++severity)
      if (one.beyond[severity] != 0)
        out.push_back({one.code, static_cast<Problem::Severity>(severity), one.beyond[severity]});
  return out;
}

void ProblemLog::add_beyond(const Beyond& more) {
  by_code(more.code).beyond[static_cast<size_t>(more.severity)] += more.count;
  counts_[static_cast<size_t>(more.severity)] += more.count;
}

uint64_t ProblemLog::count(Problem::Severity at_least) const {
  uint64_t total = 0;
  for (size_t i = static_cast<size_t>(at_least); i < counts_.size(); ++i) total += counts_[i];
  return total;
}

Status ProblemLog::strict() const {
  for (const Problem& problem : kept_)
    if (problem.severity >= Problem::Severity::Warning)
      return Error{Errc::Corrupt,
                   (source_.empty() ? "" : source_ + ": ") + problem.code + ": " + problem.text,
                   problem.offset};
  return {};
}

std::string_view severity_name(Problem::Severity severity) {
  switch (severity) {
    case Problem::Severity::Note: return "note";
    case Problem::Severity::Warning: return "warning";
    case Problem::Severity::Damage: return "damage";
  }
  return "unknown";
}

std::string problem_line(const Problem& problem) {
  const std::string place = problem.offset ? fmt::format(" at {:#x}", *problem.offset) : "";
  return fmt::format("{} {}{}: {}", severity_name(problem.severity), printable(problem.code), place,
                     printable(problem.text));
}

}  // namespace tracewell
