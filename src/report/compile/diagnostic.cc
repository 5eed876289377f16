#include "report/compile/diagnostic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::report {
namespace {

constexpr size_t kShownBefore = 90, kShownAfter = 60;  // of a long line, around the place

}  // namespace

std::string Diagnostic::show() const {
  const char* grade = severity == Severity::Error ? "error" : "warning";
  std::string shown = fmt::format("{}:{}:{}: {}: {} [{}]\n", printable(file), place.line,
                                  place.column, grade, printable(text), code);
  std::string source = line;
  std::replace(source.begin(), source.end(), '\t', ' ');
  const size_t column = place.column == 0 ? 0 : place.column - 1;
  const size_t at = std::min<size_t>(column - std::min<size_t>(column, before_line), source.size());
  const size_t begin = at > kShownBefore ? at - kShownBefore : 0;
  const std::string before = printable(source.substr(begin, at - begin));
  const std::string after = printable(source.substr(at, kShownAfter));
  return shown + fmt::format("  {}{}\n  {:>{}}\n", before, after, "^", before.size() + 1);
}

void Diagnostics::add(Diagnostic::Severity severity, Place place, std::string_view code,
                      std::string text) {
  if (severity == Diagnostic::Severity::Error) ++errors_;
  if (kept_.size() < kKeptMax) kept_.push_back(make(severity, place, code, std::move(text)));
}

Diagnostic Diagnostics::make(Diagnostic::Severity severity, Place place, std::string_view code,
                             std::string text) const {
  size_t begin = 0;
  const std::string_view line = part_of_line(place, begin);
  return {severity,        std::string(file_), place, std::string(code),
          std::move(text), std::string(line),  static_cast<uint32_t>(begin)};
}

void Diagnostics::find_lines() {
  lines_.push_back(0);
  for (size_t end = text_.find('\n'); end != std::string_view::npos;
       end = text_.find('\n', end + 1))
    lines_.push_back(end + 1);
}

/// What is shown of its line; `begin`: where in the line that begins. A template may be one line of
/// megabytes, and have something wrong at any number of places.
std::string_view Diagnostics::part_of_line(Place place, size_t& begin) const {
  if (place.line == 0 || place.line > lines_.size()) return {};
  const size_t from = lines_[place.line - 1];
  const size_t to = place.line < lines_.size() ? lines_[place.line] - 1 : text_.size();
  std::string_view line = text_.substr(from, to - from);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const size_t at = std::min<size_t>(place.column == 0 ? 0 : place.column - 1, line.size());
  begin = at > kShownBefore ? at - kShownBefore : 0;
  return line.substr(begin, at - begin + kShownAfter);
}

std::vector<Diagnostic> Diagnostics::take() {
  std::stable_sort(kept_.begin(), kept_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return std::exchange(kept_, {});
}

}  // namespace tracewell::report
