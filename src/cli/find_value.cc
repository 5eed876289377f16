// find value: which registers and accessed memory held a number. No index has all values, so the
// steps are read; but on all cores, and in pieces that are told in their order.
#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/find_hits.h"
#include "cli/terminal.h"

namespace tracewell::cli {
namespace {

using timeline::ChangedBy;

constexpr uint64_t kPieceSteps = 1 << 15;

/// Steps from `first` to `end`, which is excluded, by one thread.
class Piece {
 public:
  Piece(const StepTrace& trace, const HitPrinter& printer, uint64_t value, uint64_t end)
      : timeline_(*trace.timeline),
        catalog_(trace.catalog()),
        printer_(printer),
        value_(value),
        end_(end) {}

  Result<std::vector<std::string>> look(std::unique_ptr<Source> source) {
    Batch batch;
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
      if (!more) return std::move(found_);
      for (const Event& event : batch.events()) {
        if (!std::holds_alternative<Step>(event.body)) continue;
        if (event.seq >= end_ || found_.size() >= printer_.most()) return std::move(found_);
        look_at(event, std::get<Step>(event.body));
      }
    }
  }

 private:
  bool is_it(Bytes bytes) const {
    return !bytes.empty() && bytes.size() <= 8 &&
           load_uint(bytes.data(), bytes.size(), catalog_.endian) == value_;
  }

  /// A reader that begins anywhere tells everything at a thread's first step. What has been so
  /// since an earlier step was told there; but for what a step left that another thread followed.
  bool is_news(const Event& event, uint32_t index) const {
    if (timeline_.next_change(index, ChangedBy::Others, event.seq) == event.seq) return true;
    const auto last = timeline_.last_step_of(event.tid, event.seq);
    if (!last || *last < timeline_.session_of(event.seq).first) return true;
    return *last + 1 != event.seq &&
           timeline_.next_change(index, ChangedBy::Instruction, *last) == *last;
  }

  void look_at(const Event& event, const Step& step) {
    const auto& registers = catalog_.registers.registers;
    for (const Step::RegisterChange& one : step.before)
      if (is_it(one.value) && is_news(event, one.index))
        found_register(event, registers[one.index].name, "before");
    for (const Step::RegisterChange& one : step.registers)
      if (is_it(one.value)) found_register(event, registers[one.index].name, "after");
    for (const Step::MemoryAccess& access : step.memory) {
      if (access.kind == Step::MemoryAccess::Kind::Nearby) continue;
      const bool before = is_it(access.old_bytes);
      if (!before && !is_it(access.new_bytes)) continue;
      const std::string_view when = before ? "before" : "after";
      found_.push_back(printer_.rendered(
          event, fmt::format("{} {:#x},{}", when, access.address, access.size),
          {{"addr", fmt::format("{:#x}", access.address)}, {"size", access.size}, {"when", when}}));
    }
  }
  void found_register(const Event& event, const std::string& name, std::string_view when) {
    found_.push_back(printer_.rendered(event, fmt::format("{} {}", when, printable(name)),
                                       {{"register", name}, {"when", when}}));
  }

  const timeline::Timeline& timeline_;
  const Catalog& catalog_;
  const HitPrinter& printer_;
  uint64_t value_;
  uint64_t end_;
  std::vector<std::string> found_;
};

/// Where the piece that begins with `at` ends: readers like to begin with a keyframe.
uint64_t end_of_piece(const StepIndex& steps, uint64_t at, uint64_t end) {
  if (end - at <= kPieceSteps) return end;
  const auto keyframes = steps.keyframes();
  const auto next = std::lower_bound(keyframes.begin(), keyframes.end(), at + kPieceSteps);
  return std::min(end, next == keyframes.end() ? at + kPieceSteps : *next);
}

}  // namespace

Status find_value(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  const auto value = parse_number(options.argument);
  if (!value)
    return {Errc::InvalidArgument, fmt::format("find value {}: not a number", options.argument)};
  const StepIndex& steps = *trace.source->steps();
  const uint64_t count = trace.timeline->steps();
  const uint64_t end = options.to < count ? options.to + 1 : count;
  struct Running {
    uint64_t end = 0;
    std::future<Result<std::vector<std::string>>> found;
  };
  std::deque<Running> running;  // in their order
  const size_t most = std::max(1u, std::thread::hardware_concurrency()) + 1;
  Progress progress("searching", count);
  for (uint64_t at = options.from; at < end || !running.empty();) {
    if (at < end && running.size() < most) {
      TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, steps.open_at(at));
      at = end_of_piece(steps, at, end);
      running.push_back({at, std::async(std::launch::async,
                                        [piece = Piece(trace, hits, *value, at),
                                         from = std::move(source)]() mutable {
                                          return piece.look(std::move(from));
                                        })});
      continue;
    }
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> found, running.front().found.get());
    progress.at(running.front().end);
    running.pop_front();
    for (const std::string& hit : found)
      if (!hits.print(hit)) return {};
  }
  return {};
}

}  // namespace tracewell::cli
