#include "trace/told_problems.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "trace/lost_files.h"

namespace tracewell::trace {
namespace {

constexpr uint64_t kToldOfEach = 3;

/// Of these a single one says nothing to whoever does not look for damage.
struct CountedCode {
  std::string_view code, one, many;
};
constexpr std::array<CountedCode, 1> kCounted = {
    {{"hidden-thread-id", "thread id put right", "thread ids put right"}}};

/// All problems with one code.
struct CodeCount {
  std::string_view code;
  uint64_t count = 0;
  uint64_t told = 0;
};

CodeCount& kind_of(std::vector<CodeCount>& kinds, std::string_view code) {
  const auto at = std::ranges::find(kinds, code, &CodeCount::code);
  return at != kinds.end() ? *at : kinds.emplace_back(CodeCount{code, 0, 0});
}

void tell_more(const std::string& name, const std::string& what, const Work& work) {
  work.tell(fmt::format("{}: {}; 'tracewell check {}' lists them", name, what, name));
}

}  // namespace

bool tell_lost_files(const Work& work) {
  const std::vector<LostFile> lost = untold_lost_files();
  for (const LostFile& file : lost)
    work.tell(fmt::format("{}: damage file-shrank at {:#x}: {}", printable(file.path),
                          file.lost.first, lost_bytes_text(file.lost)));
  return !lost.empty();
}

void tell_missing_steps(const OpenTrace& trace, const std::string& path, const Work& work) {
  constexpr std::string_view kCode = "missing-steps";
  uint64_t count = 0;
  const Problem* first = nullptr;
  for (const Problem& problem : trace.problems->kept()) {
    if (problem.code != kCode) continue;
    if (first == nullptr) first = &problem;
    ++count;
  }
  if (first == nullptr) return;
  for (const ProblemLog::Beyond& more : trace.problems->beyond())
    if (more.code == kCode) count += more.count;
  const std::string name = printable(path);
  work.tell(fmt::format("{}: {}; nobody knows whether they would be in this answer", name,
                        problem_line(*first)));
  if (count > 1) tell_more(name, fmt::format("{} more of {}", count - 1, kCode), work);
}

void tell_lost_events(const LostEvents& lost, const std::string& path, const Work& work) {
  const std::vector<LostPlace> places = lost.places();
  if (places.empty()) return;
  const std::string name = printable(path);
  for (size_t i = 0; i < std::min<size_t>(kToldOfEach, places.size()); ++i)
    work.tell(fmt::format("{}: {}", name, lost_place_line(places[i])));
  if (places.size() > kToldOfEach)
    tell_more(name, fmt::format("{} more such lines", places.size() - kToldOfEach), work);
  work.tell(
      fmt::format("{}: nobody knows whether what is lost would be in this answer", name));
}

void tell_losses(const OpenTrace& trace, const SelectionOptions& selection,
                 const std::string& path, const Work& work) {
  if (selection.where.empty()) return;
  tell_missing_steps(trace, path, work);
  tell_lost_events(selection.asked->lost, path, work);
}

void tell_problems(const OpenTrace& trace, const std::string& path, const Work& work) {
  note_lost_bytes(trace.file.get(), *trace.problems);
  const std::string name = printable(path);
  const auto counted_as = [](std::string_view code) {
    return std::ranges::find(kCounted, code, &CountedCode::code);
  };
  std::vector<CodeCount> kinds;
  for (const Problem& problem : trace.problems->kept()) {
    if (problem.severity == Problem::Severity::Note) continue;
    CodeCount& kind = kind_of(kinds, problem.code);
    ++kind.count;
    if (kind.told == kToldOfEach || counted_as(kind.code) != kCounted.end()) continue;
    ++kind.told;
    work.tell(fmt::format("{}: {}", name, problem_line(problem)));
  }
  const std::vector<ProblemLog::Beyond> beyond = trace.problems->beyond();
  for (const ProblemLog::Beyond& more : beyond)
    if (more.severity != Problem::Severity::Note) kind_of(kinds, more.code).count += more.count;
  for (const CodeCount& kind : kinds) {
    if (kind.count == kind.told) continue;
    const auto counted = counted_as(kind.code);
    tell_more(name,
              counted == kCounted.end()
                  ? fmt::format("{} more of {}", kind.count - kind.told, printable(kind.code))
                  : fmt::format("{} {}", kind.count,
                                kind.count == 1 ? counted->one : counted->many),
              work);
  }
}

}  // namespace tracewell::trace
