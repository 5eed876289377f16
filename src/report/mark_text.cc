#include "report/mark_text.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace tracewell::report {
namespace {

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

}  // namespace

MarkText read_mark(std::string_view text) {
  using Kind = MarkText::Kind;
  std::string_view rest = text;
  const bool on = take(rest, "TRACE ON channel ");
  if (on || take(rest, "TRACE OFF channel ")) {
    const auto channel = take_number(rest);
    if (!channel || *channel > 7 || (!rest.empty() && !take(rest, ", "))) return {};
    return {on ? Kind::TraceOn : Kind::TraceOff, *channel, rest};
  }
  if (take(rest, "LOGFILE WRAPAROUND, ")) {
    const auto count = take_number(rest);
    return count ? MarkText{Kind::LogWrapped, *count, {}} : MarkText();
  }
  if (take(rest, "process ")) {
    const auto process = take_number(rest);
    return process && take(rest, ": ") ? MarkText{Kind::Process, *process, rest} : MarkText();
  }
  const auto count = take_number(rest);
  return count && take(rest, " records lost: ") ? MarkText{Kind::RecordsLost, *count, rest}
                                                : MarkText();
}

}  // namespace tracewell::report
