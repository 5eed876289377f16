#include "render/check_report.h"

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "render/info_report.h"
#include "render/json_document.h"
#include "trace/lost_events.h"

namespace tracewell::render {
namespace {

std::string lost_lines(const std::vector<trace::LostPlace>& places) {
  std::string out;
  for (const trace::LostPlace& place : places) out += trace::lost_place_line(place) + "\n";
  return out;
}

/// "", or "; lost: 12". What was lost while it was recorded is no damage of the file.
std::string lost_sum(const std::vector<trace::LostPlace>& places) {
  return places.empty() ? "" : fmt::format("; lost: {}", trace::lost_count_text(places));
}

}  // namespace

std::string problem_lines(const ProblemLog& problems) {
  std::string out;
  for (const Problem& problem : problems.kept()) out += problem_line(problem) + "\n";
  if (problems.count() > problems.kept().size())
    out += fmt::format("… and {} more\n", problems.count() - problems.kept().size());
  return out;
}

std::string check_text(const Checked& of, const trace::CheckReport& report,
                       const ProblemLog& problems) {
  const std::string path = printable(of.path);
  const std::string lost = lost_sum(report.lost);
  const std::string events =
      counted(report.events, "event") + and_marks(report.has_steps ? 0 : report.marks);
  const uint64_t bad = problems.count(Problem::Severity::Warning);
  // What could be read in spite of its faults is not damaged.
  const std::string_view how =
      problems.count(Problem::Severity::Damage) == 0 ? "faulty" : "damaged";
  const std::string lines = problem_lines(problems) + lost_lines(report.lost);
  if (bad == 0) return lines + fmt::format("{}: sound, {}{}\n", path, events, lost);
  if (of.strict) return lines + fmt::format("{}: {}; the rest was not looked at\n", path, how);
  return lines + fmt::format("{}: {}, {}; {} can be read{}\n", path, how, counted(bad, "problem"),
                             events, lost);
}

std::string check_json(const Checked& of, const trace::CheckReport& report,
                       const ProblemLog& problems) {
  const bool sound = trace::CheckReport::is_sound(problems);
  nlohmann::ordered_json out = {{"format", of.format},
                                {"sound", sound},
                                {"damaged", problems.count(Problem::Severity::Damage) != 0},
                                {"records", report.events},
                                {"problems", problems_json(problems)},
                                {"problem_count", problems.count()},
                                {"lost", lost_json(report.lost)}};
  if (of.strict && !sound) out["records"] = nullptr;
  return json_document(out, 2) + "\n";
}

std::string repair_text(std::string_view path, std::string_view output,
                        const ProblemLog& problems) {
  const uint64_t bad = problems.count(Problem::Severity::Warning);
  const std::string lines = problem_lines(problems);
  if (bad == 0) return lines + fmt::format("{}: sound\n", printable(path));
  return lines + fmt::format("{}: {}; {} has what could be saved\n", printable(path),
                             counted(bad, "problem"), printable(output));
}

}  // namespace tracewell::render
