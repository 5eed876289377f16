// find value: which registers and accessed memory held a number. No index has all values, so the
// steps are read; but on all cores, and in pieces that are told in their order.
#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/thread.h"
#include "cli/find_hits.h"
#include "cli/step_text.h"
#include "cli/terminal.h"
#include "formats/jsonl.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;
using timeline::ChangedBy;

constexpr uint64_t kPieceSteps = 1 << 15;

/// From one number to another, both included; with a minus before one of them, both are signed.
struct Wanted {
  bool is_signed = false;
  uint64_t low = 0, last = 0;

  /// `bytes`: one to eight. A negative number is one of any size.
  bool holds(Bytes bytes, Endian endian) const {
    const uint64_t value = load_uint(bytes.data(), bytes.size(), endian);
    if (!is_signed) return value >= low && value <= last;
    const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
    const int64_t number = static_cast<int64_t>(value << unused) >> unused;
    return number >= static_cast<int64_t>(low) && number <= static_cast<int64_t>(last);
  }
};

struct Number {
  bool minus = false;
  uint64_t value = 0;  // two's complement
};
std::optional<Number> parse_signed(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);
  const auto number = parse_number(text);
  if (!number || (minus && *number > uint64_t{1} << 63)) return std::nullopt;
  return Number{minus && *number != 0, minus ? ~*number + 1 : *number};
}

Result<Wanted> parse_wanted(const std::string& argument) {
  const std::string_view text = argument;
  const size_t dots = text.find("..");
  const auto low = parse_signed(text.substr(0, dots));
  const auto last = dots == text.npos ? low : parse_signed(text.substr(dots + 2));
  if (!low || !last)
    return {Errc::InvalidArgument,
            fmt::format("find value {}: wanted is a number, or LOW..LAST{}", printable(text),
                        hex_hint(text))};
  const Wanted out{low->minus || last->minus, low->value, last->value};
  const bool too_large = out.is_signed && ((!low->minus && low->value > INT64_MAX) ||
                                           (!last->minus && last->value > INT64_MAX));
  const bool empty = out.is_signed
                         ? static_cast<int64_t>(out.low) > static_cast<int64_t>(out.last)
                         : out.low > out.last;
  if (empty || too_large)
    return {Errc::InvalidArgument,
            fmt::format("find value {}: nothing is in this range", printable(text))};
  return out;
}

/// Steps up to `end`, which is excluded, by one thread. The last hit is the first one, `backward`.
class Piece {
 public:
  Piece(const StepTrace& trace, const HitPrinter& printer, const Wanted& wanted, uint64_t end,
        bool backward)
      : timeline_(*trace.timeline),
        catalog_(trace.catalog()),
        printer_(printer),
        wanted_(wanted),
        end_(end),
        backward_(backward) {}

  Result<std::vector<std::string>> look(std::unique_ptr<Source> source) {
    steps_ = source->steps();
    TW_RETURN_IF_ERROR(look_at_all(*source));
    if (backward_) std::ranges::reverse(found_);
    return std::move(found_);
  }

 private:
  Status look_at_all(Source& source) {
    Batch batch;
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool more, source.next(batch));
      if (!more) return {};
      for (const Event& event : batch.events()) {
        if (!std::holds_alternative<Step>(event.body)) continue;
        if (event.seq >= end_ || (!backward_ && found_.size() >= printer_.most())) return {};
        look_at(event, std::get<Step>(event.body));
      }
    }
  }

  bool is_it(Bytes bytes) const {
    return !bytes.empty() && bytes.size() <= 8 &&
           wanted_.holds(bytes, catalog_.endian);
  }

  /// A reader that begins anywhere tells everything at a thread's first step. What has been so
  /// since an earlier step was told there; but for what a step left and did not tell itself, as
  /// where another thread follows it.
  bool is_news(const Event& event, uint32_t index) {
    if (timeline_.changes_at(index, ChangedBy::Others, event.seq)) return true;
    const uint64_t begin = timeline_.session_of(event.seq).first;
    const auto last = timeline_.last_step_of(event.tid, event.seq, begin);
    if (!last) return true;
    return timeline_.changes_at(index, ChangedBy::Instruction, *last) && !tells(*last, index);
  }

  /// Does that step say what it left in the register? (Several are asked for of one step.)
  bool tells(uint64_t seq, uint32_t index) {
    if (asked_ != seq) {
      asked_ = seq;
      told_.clear();
      ask_step(seq);
    }
    return std::ranges::find(told_, index) != told_.end();
  }
  void ask_step(uint64_t seq) {
    if (steps_ == nullptr) return;
    const auto source = steps_->open_at(seq);
    Batch batch;
    while (source) {
      const auto more = (*source)->next(batch);
      if (!more || !*more) return;
      for (const Event& event : batch.events()) {
        const auto* step = std::get_if<Step>(&event.body);
        if (step == nullptr) continue;
        for (const Step::RegisterChange& one : step->registers)
          if (!one.value.empty()) told_.push_back(one.index);
        return;
      }
    }
  }

  void look_at(const Event& event, const Step& step) {
    const auto& registers = catalog_.registers.registers;
    for (const Step::RegisterChange& one : step.before)
      if (is_it(one.value) && is_shown(registers[one.index]) && is_news(event, one.index))
        found_register(event, registers[one.index].name, "before", one.value);
    for (const Step::RegisterChange& one : step.registers)
      if (is_it(one.value) && is_shown(registers[one.index]))
        found_register(event, registers[one.index].name, "after", one.value);
    for (const Step::MemoryAccess& access : step.memory) {
      if (access.kind == Step::MemoryAccess::Kind::Nearby) continue;
      const bool before = is_it(access.old_bytes);
      if (!before && !is_it(access.new_bytes)) continue;
      const std::string_view when = before ? "before" : "after";
      const StepWords& words = printer_.words();
      Json more = {{"addr", fmt::format("{:#x}", access.address)},
                   {"size", access.size},
                   {"when", when}};
      if (std::string name = words.data_name(access.address); !name.empty())
        more["name"] = std::move(name);
      std::string text = fmt::format("{} {:#x},{}{}", when, access.address, access.size,
                                     words.data(access.address));
      add(event, std::move(text), std::move(more), before ? access.old_bytes : access.new_bytes);
    }
  }
  void found_register(const Event& event, const std::string& name, std::string_view when,
                      Bytes value) {
    add(event, fmt::format("{} {}", when, printable(name)), {{"register", name}, {"when", when}},
        value);
  }
  /// Of a range, which number it was.
  void add(const Event& event, std::string text, Json more, Bytes value) {
    if (wanted_.low != wanted_.last) {
      const std::string number = formats::register_value_hex(value, catalog_.endian);
      text += " = " + number;
      more["value"] = number;
    }
    found_.push_back(printer_.rendered(event, text, more));
  }

  const timeline::Timeline& timeline_;
  const Catalog& catalog_;
  const HitPrinter& printer_;
  const StepIndex* steps_ = nullptr;  // of the reader that is being looked through
  std::optional<uint64_t> asked_;
  std::vector<uint32_t> told_;  // registers whose values the step that was asked tells
  Wanted wanted_;
  uint64_t end_;
  bool backward_;
  std::vector<std::string> found_;
};

/// From one step to another, which is excluded.
struct Stretch {
  uint64_t from = 0, end = 0;
  bool empty() const { return from >= end; }
};

/// Takes a piece off `rest`, at its end if `backward`: readers like to begin with a keyframe.
Stretch take_piece(const StepIndex& steps, Stretch& rest, bool backward) {
  const auto keyframes = steps.keyframes();
  Stretch out = rest;
  if (rest.end - rest.from <= kPieceSteps) {
    rest.from = rest.end;
  } else if (backward) {
    const uint64_t at = rest.end - kPieceSteps;
    const auto behind = std::upper_bound(keyframes.begin(), keyframes.end(), at);
    out.from = std::max(rest.from, behind == keyframes.begin() ? at : *(behind - 1));
    rest.end = out.from;
  } else {
    const uint64_t at = rest.from + kPieceSteps;
    const auto next = std::lower_bound(keyframes.begin(), keyframes.end(), at);
    out.end = std::min(rest.end, next == keyframes.end() ? at : *next);
    rest.from = out.end;
  }
  return out;
}

}  // namespace

Status find_value(StepTrace& trace, const FindOptions& options, HitPrinter& hits) {
  TW_ASSIGN_OR_RETURN(const Wanted wanted, parse_wanted(options.argument));
  const StepIndex& steps = *trace.source->steps();
  const uint64_t count = trace.timeline->steps();
  const bool backward = options.backward;
  Stretch rest = {options.from, options.to < count ? options.to + 1 : count};
  struct Running {
    Stretch piece;
    std::future<Result<std::vector<std::string>>> found;
  };
  std::deque<Running> running;  // in their order
  const size_t most = std::max(1u, std::thread::hardware_concurrency()) + 1;
  Progress progress("searching", count);
  while (!rest.empty() || !running.empty()) {
    if (!rest.empty() && running.size() < most) {
      const Stretch piece = take_piece(steps, rest, backward);
      TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, steps.open_at(piece.from));
      running.push_back({piece, begin([look = Piece(trace, hits, wanted, piece.end, backward),
                                       from = std::move(source)]() mutable {
                           return look.look(std::move(from));
                         })});
      continue;
    }
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> found, running.front().found.get());
    const Stretch& done = running.front().piece;
    progress.at(backward ? count - done.from : done.end);
    running.pop_front();
    for (const std::string& hit : found)
      if (!hits.print(hit)) return {};
  }
  return {};
}

}  // namespace tracewell::cli
