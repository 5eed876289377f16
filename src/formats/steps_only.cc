#include "formats/steps_only.h"

#include <fmt/format.h>

namespace tracewell::formats {

Status StepsOnly::other(const Event& event, std::string_view format) {
  if (const auto* mark = std::get_if<Mark>(&event.body)) {
    if (!mark->text.empty()) count("notes are left out");
    return {};
  }
  if (std::holds_alternative<Lost>(event.body)) {
    count("places where instructions are missing are not shown");
    return {};
  }
  return Error{Errc::Unsupported,
               fmt::format("event {} is not an executed instruction, and {} holds nothing else",
                           event.seq, format),
               {}};
}

void StepsOnly::count(std::string_view what, uint64_t by) {
  if (by == 0) return;
  for (Counted& one : counted_) {
    if (one.what != what) continue;
    one.count += by;
    return;
  }
  counted_.push_back({std::string(what), by});
}

std::vector<std::string> StepsOnly::left_out() const {
  std::vector<std::string> out;
  for (const Counted& one : counted_) out.push_back(fmt::format("{} {}", one.count, one.what));
  return out;
}

}  // namespace tracewell::formats
