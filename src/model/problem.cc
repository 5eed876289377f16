#include "model/problem.h"

#include <algorithm>

namespace tracewell {

void ProblemLog::add(Problem problem) {
  ++counts_[static_cast<size_t>(problem.severity)];
  auto at = std::find_if(counts_by_code_.begin(), counts_by_code_.end(),
                         [&](const auto& entry) { return entry.first == problem.code; });
  if (at == counts_by_code_.end())
    at = counts_by_code_.insert(at, {problem.code, 0});
  if (++at->second <= kKeptMax) kept_.push_back(std::move(problem));
}

uint64_t ProblemLog::count(Problem::Severity at_least) const {
  uint64_t total = 0;
  for (size_t i = static_cast<size_t>(at_least); i < std::size(counts_); ++i) total += counts_[i];
  return total;
}

Status ProblemLog::strict() const {
  for (const Problem& problem : kept_)
    if (problem.severity >= Problem::Severity::Warning)
      return Error{Errc::Corrupt, problem.code + ": " + problem.text, problem.offset};
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

}  // namespace tracewell
