#include "trace/lost_events.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/text/text.h"
#include "base/text/time_text.h"
#include "model/lost_count.h"
#include "report/mark_text.h"

namespace tracewell::trace {
namespace {

constexpr uint64_t kSumMax = uint64_t{1} << 62;  // of many

std::string count_text(uint64_t count, bool uncounted) {
  if (count == 0) return "not known how many";
  return fmt::format("{}{}", count, uncounted ? " and more" : "");
}

}  // namespace

void LostEvents::add(const Event& event, Thread thread, uint64_t count, std::string_view why) {
  const auto [at, fresh] = places_.try_emplace({thread, std::string(why)});
  LostPlace& place = at->second;
  if (fresh) {
    std::tie(place.thread, place.process) = thread;
    place.why = why;
    place.first = event.seq;
    place.time_ns = event.time_ns;
    place.in_front = thread.first != 0 && !threads_.contains(thread);
  }
  place.last = event.seq;
  ++place.times;
  const uint64_t known = lost_count(count);
  place.count = std::min(place.count + known, kSumMax);
  place.uncounted |= known == 0;
}

void LostEvents::look_at(const Event& event) {
  steps_ |= std::holds_alternative<Step>(event.body);
  if (steps_) return;
  processes_.learn(event);
  if (std::holds_alternative<Change>(event.body)) return;
  const Thread thread = {event.tid, processes_.pid_of(event)};
  if (const auto* lost = std::get_if<Lost>(&event.body)) add(event, thread, lost->count, lost->why);
  threads_.insert(thread);
  const auto* mark = std::get_if<Mark>(&event.body);
  if (!mark) return;
  using Kind = report::MarkText::Kind;
  const report::MarkText said = report::read_mark(mark->text);
  limited_ |= said.kind == Kind::LogWrapped;
  if (said.kind == Kind::LogWrapped)
    add(event, {}, said.number, "the oldest of the log, which is limited");
  else if (said.kind == Kind::RecordsLost)
    add(event, {}, said.number, said.rest);
}

std::vector<LostPlace> LostEvents::places() const {
  std::vector<LostPlace> out;
  if (steps_) return out;
  for (const auto& [key, place] : places_) {
    // What is missing in front of a thread's first packet is among what the log has dropped.
    const bool counted = limited_ && place.in_front && place.count == 0 &&
                         place.first == place.last;
    if (counted) continue;
    out.push_back(place);
    if (place.process == 0) continue;
    // In order: of the same id, the first and the last are the same if there is but one.
    const auto first = threads_.lower_bound({place.thread, 0});
    const auto last = std::prev(threads_.upper_bound({place.thread, UINT32_MAX}));
    if (first == last) out.back().process = 0;
  }
  std::ranges::stable_sort(out, {}, &LostPlace::first);
  return out;
}

std::string lost_count_text(const std::vector<LostPlace>& places) {
  uint64_t count = 0;
  bool uncounted = false;
  for (const LostPlace& place : places) {
    count = std::min(count + place.count, kSumMax);
    uncounted |= place.uncounted;
  }
  return count_text(count, uncounted);
}

namespace {

std::string place_text(const LostPlace& place, std::string_view verb) {
  std::string out = place.count == 0 ? "an unknown number of events"
                                     : count_text(place.count, place.uncounted);
  if (place.thread != 0) out += fmt::format(" of thread {}", place.thread);
  if (place.process != 0) out += fmt::format(" of process {}", place.process);
  if (place.count == 0) out += verb;
  if (!place.why.empty()) out += fmt::format(" ({})", printable(place.why));
  const std::string time = place.time_ns ? time_text(*place.time_ns) : "";
  if (place.times == 1)
    return out + fmt::format(": event {}{}{}", place.first, time.empty() ? "" : ", ", time);
  // The events between them are there: they are no range that was lost.
  return out + fmt::format(", in {} places between events {} and {}{}{}", place.times, place.first,
                           place.last, time.empty() ? "" : ", first at ", time);
}

}  // namespace

std::string lost_place_text(const LostPlace& place) { return place_text(place, ""); }

std::string lost_place_line(const LostPlace& place) {
  return (place.count == 0 ? "" : "lost ") + place_text(place, " lost");
}

}  // namespace tracewell::trace
