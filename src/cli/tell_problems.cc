// What is wrong with a trace, told beside the answer to another question. Files of some recorders
// have the same fault at dozens of places: a line each would bury the answer.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/trace_files.h"

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

std::string problem_line(const Problem& problem) {
  const std::string place = problem.offset ? fmt::format(" at {:#x}", *problem.offset) : "";
  return fmt::format("{} {}{}: {}", severity_name(problem.severity), problem.code, place,
                     printable(problem.text));
}

void note_lost_bytes(const OpenTrace& trace) {
  const auto lost = trace.file ? trace.file->lost() : std::nullopt;
  if (!lost) return;
  constexpr std::string_view kCode = "file-shrank";
  if (std::ranges::find(trace.problems->kept(), kCode, &Problem::code) !=
      trace.problems->kept().end())
    return;
  trace.problems->add({lost->first, Problem::Severity::Damage, kCode.data(),
                       fmt::format("{} bytes could not be read, and were taken as zeros: the file "
                                   "was cut while it was read, or its disk failed",
                                   lost->bytes)});
}

void tell_problems(const OpenTrace& trace, const std::string& path) {
  note_lost_bytes(trace);
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
        counted == kCounted.end() ? fmt::format("{} more of {}", kind.count - kind.told, kind.code)
                                  : fmt::format("{} {}", kind.count,
                                                kind.count == 1 ? counted->one : counted->many);
    fmt::print(stderr, "tracewell: {}: {}; 'tracewell check {}' lists them\n", name, what, name);
  }
}

}  // namespace tracewell::cli
