#include "hooks/rings/chosen_rings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "hooks/log/log_use.h"
#include "hooks/rings/ring_head.h"

namespace tracewell::hooks {
namespace {

constexpr size_t kChosenToldMax = 64;  // one by one

std::string core_path_of(const DeadRing& ring) {
  return fmt::format("{}/{}/{}", printable(ring.log), kRingsName, ring_name(ring.head));
}

std::string trace_of(const DeadRing& ring) { return uuid_text(ring_uuid(ring.head)); }

bool has_ended(const DeadRing& ring) {
  return ring.gone && ring.log_says == DeadRing::LogSays::SameTrace;
}

/// Rings that say that they are of one trace. Of the log of a trace there is one at a time, and of
/// a process that runs no ring goes before its trace ends.
class OneTrace {
 public:
  explicit OneTrace(std::vector<const DeadRing*> rings) : rings_(std::move(rings)) {
    for (const DeadRing* one : rings_) logs_.insert(one->log);
    using Says = DeadRing::LogSays;
    choose_log([](const DeadRing& one) { return !one.gone && one.log_says == Says::SameTrace; });
    choose_log([](const DeadRing& one) { return !one.gone; });
    choose_log([](const DeadRing& one) { return one.log_says != Says::OtherTrace; });
    choose_log([](const DeadRing&) { return true; });
    for (const DeadRing* one : rings_)
      if (one->log == log_ && !one->gone) there_.insert(one->head.pid);
  }

  /// Why it is not one of them; "" = nothing contradicts it.
  std::string contradiction(const DeadRing& ring) const {
    if (log_.empty())
      return fmt::format("rings in {} and {} both say that they are of the trace {} (--from LOG "
                         "says which of them are)",
                         printable(*logs_.begin()), printable(*std::next(logs_.begin())),
                         trace_of(ring));
    const std::string says =
        fmt::format("{} says of itself that it is of the trace {}", core_path_of(ring),
                    trace_of(ring));
    if (ring.log != log_)
      return fmt::format("{}, whose rings were in {}", says, printable(log_));
    if (ring.gone && there_.contains(ring.head.pid))
      return fmt::format("{}, of which others were there when its own file was gone", says);
    return "";
  }

 private:
  /// Unless that is known: the one of which this holds for a ring, if it is the only one.
  template <class Vouches>
  void choose_log(const Vouches& vouches) {
    std::set<std::string> logs;
    for (const DeadRing* one : rings_)
      if (vouches(*one)) logs.insert(one->log);
    if (log_.empty() && logs.size() == 1) log_ = *logs.begin();
  }

  std::vector<const DeadRing*> rings_;
  std::set<std::string> logs_;
  std::string log_;           // that they were in; "" = nobody knows
  std::set<uint32_t> there_;  // processes with rings in it whose files had their names
};

class CoreChoice {
 public:
  explicit CoreChoice(DeadRings& found) : found_(found) {}

  void leave_out_contradictions();
  void leave_out_components();
  void leave_out_ended();
  void tell_what_heads_alone_say();
  void end();

 private:
  std::map<Uuid, OneTrace> traces() const;
  void tell(std::string text);
  /// Those of which `why` says something go.
  template <class Why>
  void leave_out(const Why& why);

  DeadRings& found_;
  std::set<std::string> told_;  // each sentence once
};

void CoreChoice::tell(std::string text) {
  if (!told_.insert(text).second || told_.size() > kChosenToldMax) return;
  found_.left_out.push_back(std::move(text));
}

template <class Why>
void CoreChoice::leave_out(const Why& why) {
  std::vector<DeadRing> kept;
  std::vector<std::string> texts;
  std::vector<bool> goes;
  for (const DeadRing& one : found_.rings) {
    texts.push_back(why(one));
    goes.push_back(!texts.back().empty());
  }
  for (size_t i = 0; i < goes.size(); ++i) {
    if (goes[i])
      tell(texts[i]);
    else
      kept.push_back(std::move(found_.rings[i]));
  }
  found_.rings = std::move(kept);
}

std::map<Uuid, OneTrace> CoreChoice::traces() const {
  std::map<Uuid, std::vector<const DeadRing*>> rings;
  for (const DeadRing& one : found_.rings) rings[ring_uuid(one.head)].push_back(&one);
  std::map<Uuid, OneTrace> out;
  for (auto& [uuid, of_trace] : rings) out.try_emplace(uuid, std::move(of_trace));
  return out;
}

void CoreChoice::leave_out_contradictions() {
  const std::map<Uuid, OneTrace> all = traces();
  leave_out([&](const DeadRing& one) -> std::string {
    const std::string why = all.at(ring_uuid(one.head)).contradiction(one);
    return why.empty() ? "" : why + "; it is left out";
  });
}

/// Where there are rings of traces: of components, ctctrl takes the buffers.
void CoreChoice::leave_out_components() {
  const auto is_of_component = [](const DeadRing& one) {
    return one.head.channel >= TRACEWELL_HOOK_CHANNELS;
  };
  if (std::ranges::all_of(found_.rings, is_of_component)) return;
  leave_out([&](const DeadRing& one) -> std::string {
    if (!is_of_component(one)) return "";
    return fmt::format("{} is a buffer of a component: it is left out (--from {} takes it)",
                       core_path_of(one), trace_of(one));
  });
}

/// Threads that have made no hook since keep the rings of a trace that has ended.
void CoreChoice::leave_out_ended() {
  std::set<Uuid> running;
  for (const DeadRing& one : found_.rings)
    if (!one.gone) running.insert(ring_uuid(one.head));
  leave_out([&](const DeadRing& one) -> std::string {
    if (has_ended(one))
      return fmt::format("the trace of {} has ended, and {} has what was in it: it is left out "
                         "(--from {} takes it)",
                         core_path_of(one), printable(one.log), trace_of(one));
    if (running.empty() || running.contains(ring_uuid(one.head))) return "";
    return fmt::format("{} is of the trace {}, which had ended: it is left out (--from UUID "
                       "takes it)",
                       core_path_of(one), trace_of(one));
  });
}

void CoreChoice::tell_what_heads_alone_say() {
  struct Alone {
    size_t count = 0;
    bool is_other = false;
  };
  std::map<std::pair<std::string, Uuid>, Alone> alone;
  for (const DeadRing& one : found_.rings) {
    if (has_ended(one))
      tell(fmt::format("the trace of {} has ended, and {} has what was in it", core_path_of(one),
                       printable(one.log)));
    if (one.log_says == DeadRing::LogSays::SameTrace) continue;
    Alone& all = alone[{one.log, ring_uuid(one.head)}];
    ++all.count;
    all.is_other |= one.log_says == DeadRing::LogSays::OtherTrace;
  }
  for (const auto& [what, all] : alone) {
    const size_t count = all.count;
    const std::string_view what_log =
        all.is_other ? "of another trace by now" : "no log that says which trace it is of";
    tell(fmt::format("{} is {}: that {} ring{} of the trace {}, {} alone say{}",
                     printable(what.first), what_log, count, count == 1 ? " is" : "s are",
                     uuid_text(what.second), count == 1 ? "it" : "they", count == 1 ? "s" : ""));
  }
}

void CoreChoice::end() {
  if (told_.size() > kChosenToldMax)
    found_.left_out.push_back(fmt::format("the same goes for more rings of the core file ({})",
                                          told_.size() - kChosenToldMax));
}

}  // namespace

std::optional<Uuid> read_uuid(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-')) return std::nullopt;
    if (!dash) digits += text[i];
  }
  const auto bytes = from_hex(digits);
  Uuid out{};
  if (!bytes || bytes->size() != out.size()) return std::nullopt;
  std::ranges::copy(*bytes, out.begin());
  return out;
}

void choose_rings(DeadRings& found, const RingChoice& choice) {
  std::erase_if(found.rings, [&](const DeadRing& one) {
    return (choice.trace && ring_uuid(one.head) != *choice.trace) ||
           (!choice.log.empty() && !is_same_log(one.log, choice.log));
  });
  CoreChoice core(found);
  if (found.of_core) core.leave_out_contradictions();
  // A head that lies of its channel may be the one that contradicts another.
  if (choice.channel)
    std::erase_if(found.rings, [&](const DeadRing& one) {
      return one.head.channel != *choice.channel;
    });
  if (!found.of_core) return;
  if (!choice.names_trace()) {
    core.leave_out_components();
    core.leave_out_ended();
  }
  core.tell_what_heads_alone_say();
  core.end();
}

}  // namespace tracewell::hooks
