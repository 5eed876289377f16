// What is wrong with a trace, told beside the answer to another question. Files of some recorders
// have the same fault at dozens of places: a line each would bury the answer.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/trace_files.h"
#include "trace/lost_files.h"

namespace tracewell::cli {
namespace {

constexpr uint64_t kToldOfEach = 3;

/// Of these a single one says nothing to whoever does not look for damage.
struct Counted {
  std::string_view code, one, many;
};
constexpr std::array<Counted, 1> kCounted = {
    {{"hidden-thread-id", "thread id put right", "thread ids put right"}}};

/// All problems with one code.
struct Kind {
  std::string_view code;
  uint64_t count = 0;
  uint64_t told = 0;
};

Kind& kind_of(std::vector<Kind>& kinds, std::string_view code) {
  const auto at = std::ranges::find(kinds, code, &Kind::code);
  return at != kinds.end() ? *at : kinds.emplace_back(Kind{code, 0, 0});
}

}  // namespace

int tell_lost_files(int status) {
  const std::vector<LostFile> lost = trace::untold_lost_files();
  for (const LostFile& file : lost)
    fmt::print(stderr, "tracewell: {}: damage file-shrank at {:#x}: {}\n", printable(file.path),
               file.lost.first, trace::lost_bytes_text(file.lost));
  if (lost.empty()) return status;
  return status == kOk || status == kNothing ? static_cast<int>(kBadInput) : status;
}

void tell_missing_steps(const trace::OpenTrace& trace, const std::string& path) {
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
  fmt::print(stderr, "tracewell: {}: {}; nobody knows whether they would be in this answer\n", name,
             problem_line(*first));
  if (count > 1)
    fmt::print(stderr, "tracewell: {}: {} more of {}; 'tracewell check {}' lists them\n", name,
               count - 1, kCode, name);
}

void tell_lost_events(const trace::LostEvents& lost, const std::string& path) {
  const std::vector<trace::LostPlace> places = lost.places();
  if (places.empty()) return;
  const std::string name = printable(path);
  for (size_t i = 0; i < std::min<size_t>(kToldOfEach, places.size()); ++i)
    fmt::print(stderr, "tracewell: {}: {}\n", name, trace::lost_place_line(places[i]));
  if (places.size() > kToldOfEach)
    fmt::print(stderr, "tracewell: {}: {} more such lines; 'tracewell check {}' lists them\n", name,
               places.size() - kToldOfEach, name);
  fmt::print(stderr, "tracewell: {}: nobody knows whether what is lost would be in this answer\n",
             name);
}

void tell_losses(const trace::OpenTrace& trace, const trace::SelectionOptions& selection,
                 const std::string& path) {
  if (selection.where.empty()) return;
  tell_missing_steps(trace, path);
  tell_lost_events(selection.asked->lost, path);
}

void tell_problems(const trace::OpenTrace& trace, const std::string& path) {
  trace::note_lost_bytes(trace.file.get(), *trace.problems);
  const std::string name = printable(path);
  const auto counted_as = [](std::string_view code) {
    return std::ranges::find(kCounted, code, &Counted::code);
  };
  std::vector<Kind> kinds;
  for (const Problem& problem : trace.problems->kept()) {
    if (problem.severity == Problem::Severity::Note) continue;
    Kind& kind = kind_of(kinds, problem.code);
    ++kind.count;
    if (kind.told == kToldOfEach || counted_as(kind.code) != kCounted.end()) continue;
    ++kind.told;
    fmt::print(stderr, "tracewell: {}: {}\n", name, problem_line(problem));
  }
  const std::vector<ProblemLog::Beyond> beyond = trace.problems->beyond();
  for (const ProblemLog::Beyond& more : beyond)
    if (more.severity != Problem::Severity::Note) kind_of(kinds, more.code).count += more.count;
  for (const Kind& kind : kinds) {
    if (kind.count == kind.told) continue;
    const auto counted = counted_as(kind.code);
    const std::string what =
        counted == kCounted.end() ? fmt::format("{} more of {}", kind.count - kind.told,
                                                printable(kind.code))
                                  : fmt::format("{} {}", kind.count,
                                                kind.count == 1 ? counted->one : counted->many);
    fmt::print(stderr, "tracewell: {}: {}; 'tracewell check {}' lists them\n", name, what, name);
  }
}

}  // namespace tracewell::cli
