#include "formats/steps/steps_only.h"

#include <fmt/format.h>

#include "base/text/counted.h"
#include "base/text/text.h"

namespace tracewell::formats {
namespace {

/// Each "{one|many}" becomes what fits the number.
std::string in_number(std::string_view what, uint64_t count) {
  std::string out;
  while (true) {
    out += take_until(what, '{');
    if (what.empty()) return out;
    std::string_view words = take_until(what, '}');
    const std::string_view one = take_until(words, '|');
    out += count == 1 ? one : words;
  }
}

}  // namespace

Status StepsOnly::other(const Event& event, std::string_view format) {
  if (const auto* mark = std::get_if<Mark>(&event.body)) {
    if (!mark->text.empty()) count("note{ is|s are} left out");
    return {};
  }
  if (std::holds_alternative<Lost>(event.body)) {
    count("place{|s} where instructions are missing {is|are} not shown");
    return {};
  }
  if (std::holds_alternative<Change>(event.body)) {
    if (!is_only_known(event))
      count("change{ of a process, module or thread is|s of processes, modules or threads are} "
            "left out");
    return {};
  }
  return Error{Errc::Unsupported,
               fmt::format("event {} is not an executed instruction, and {} holds nothing else",
                           event.seq, format),
               {}};
}

void StepsOnly::count_unsaid(const Step& step) {
  if (step.memory_incomplete)
    count("instruction{ has|s have} accesses that are not shown; nobody recorded them");
  if (step.gap_before)
    count("gap{|s} between instructions, in which others may have written memory, {is|are} not "
          "shown");
}

void StepsOnly::refuse_processes(const Catalog& catalog, std::vector<std::string>& out) {
  if (catalog.processes.size() > 1)
    out.push_back(fmt::format("the trace is of {} processes, and the file will not say which of "
                              "them an event is of",
                              catalog.processes.size()));
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
  std::vector<std::string> out = said_;
  if (of_others_ != 0)
    out.push_back(fmt::format("{} {} of other processes than the first one, which the file does "
                              "not say; --where 'process == N' chooses one",
                              counted(of_others_, "event"), of_others_ == 1 ? "is" : "are"));
  for (const Counted& one : counted_)
    out.push_back(fmt::format("{} {}", one.count, in_number(one.what, one.count)));
  return out;
}

}  // namespace tracewell::formats
