// Why there is no answer: whoever gets none is told what was asked, and what may have been meant.
#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/text/text.h"
#include "model/source_over.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

using Spelled = filter::Expression::Spelled;

constexpr size_t kHookDigits = 3;  // as templates write it, without the last one of the id

class ObservedSource final : public SourceOver {
 public:
  ObservedSource(std::unique_ptr<Source> source, std::shared_ptr<AskedEvents> asked)
      : SourceOver(std::move(source)), asked_(std::move(asked)) {
    asked_->steps = source_->steps() != nullptr;
    asked_->lost.begin(source_->catalog());
    if (Seekable* const all = source_->seekable(); all != nullptr && all->count() != 0)
      asked_->last = all->count() - 1;
  }
  Result<bool> next(Batch& batch) override {
    auto more = source_->next(batch);
    for (const Event& event : batch.events()) {
      if (std::holds_alternative<Change>(event.body)) continue;
      asked_->steps |= std::holds_alternative<Step>(event.body);
      asked_->frames |= std::holds_alternative<Frame>(event.body);
      asked_->hooks |= std::holds_alternative<Hook>(event.body);
      asked_->tid |= event.tid != 0;
      asked_->process |= event.process != 0;
      asked_->cpu |= event.cpu >= 0;
      asked_->time_ns |= event.time_ns.has_value();
      // What is noted behind the last step has a number that no step has.
      if (asked_->steps && std::holds_alternative<Mark>(event.body)) continue;
      asked_->last = std::max(asked_->last.value_or(0), event.seq);
    }
    for (const Event& event : batch.events())
      if ((event.seq >= asked_->from && event.seq <= asked_->to) ||
          std::holds_alternative<Change>(event.body))
        asked_->lost.look_at(event);
    return more;
  }

 private:
  std::shared_ptr<AskedEvents> asked_;
};

/// Of which events a word is.
struct WordOf {
  std::string_view word;
  bool steps, frames, hooks;
};
constexpr WordOf kSomeWords[] = {
    {"read", true, false, false},       {"write", true, false, false},
    {"access", true, false, false},     {"mnemonic", true, false, false},
    {"disassembly", true, false, false}, {"pc", true, true, false},
    {"module", true, true, false},      {"symbol", true, true, false},
    {"tracepoint", false, true, false}, {"id", false, false, true},
    {"subhook", false, false, true}};
constexpr std::string_view kCommonWords[] = {"tid", "cpu", "time_ns", "pid", "process"};

std::string kinds_text(bool steps, bool frames, bool hooks) {
  std::string out;
  const auto add = [&](bool is, std::string_view kind) {
    if (is) out += (out.empty() ? "" : " and ") + std::string(kind);
  };
  add(steps, "executed instructions");
  add(frames, "frames");
  add(hooks, "hooks");
  return out;
}

/// Of a word that none of the events has: nothing that compares it can be true.
std::string word_hint(const std::string& word, const AskedEvents& asked) {
  const bool told = word == "tid"   ? asked.tid
                    : word == "cpu" ? asked.cpu
                    : word == "pid" || word == "process" ? asked.process
                                                         : asked.time_ns;
  if (std::ranges::find(kCommonWords, word) != std::end(kCommonWords))
    return told ? "" : fmt::format("; no event of this trace has a {}", word);
  const auto* const of = std::ranges::find(kSomeWords, word, &WordOf::word);
  const std::string there = kinds_text(asked.steps, asked.frames, asked.hooks);
  if (of == std::end(kSomeWords) || there.empty() || (of->steps && asked.steps) ||
      (of->frames && asked.frames) || (of->hooks && asked.hooks))
    return "";
  return fmt::format("; `{}` is of {}; this trace has {}", word,
                     kinds_text(of->steps, of->frames, of->hooks), there);
}

std::string number_hint(const Spelled& one) {
  std::string digits = one.text.substr(one.text.starts_with("0x") ? 2 : 0);
  if (one.hook && !one.text.starts_with('-') && digits.size() <= kHookDigits) {
    digits.insert(0, kHookDigits - digits.size(), '0');
    return hex_hint(one.text) + fmt::format("; hook {} has the id 0x{}0", digits, digits);
  }
  return hex_hint(one.text);
}

/// Behind its first instruction a function's symbol is another text.
std::string symbol_hint(const std::string& name) {
  if (name.empty() || name.find('+') != name.npos) return "";
  std::string out = "; a symbol is NAME+OFFSET but at a function's first byte";
  const bool plain = std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  return plain ? out + fmt::format(": symbol =~ \"^{}\"", name) : out;
}

std::string asked_text(const SelectionOptions& selection) {
  std::string out;
  if (selection.from != 0) out += fmt::format(" --from {}", selection.from);
  if (selection.to != UINT64_MAX) out += fmt::format(" --to {}", selection.to);
  if (!selection.where.empty()) out += fmt::format(" --where '{}'", selection.where);
  return out;
}

}  // namespace

void note_words(const filter::Expression& where, AskedEvents& asked) {
  const auto note = [&](std::string_view word) {
    if (where.names(word)) asked.words.emplace_back(word);
  };
  for (const WordOf& one : kSomeWords) note(one.word);
  for (const std::string_view one : kCommonWords) note(one);
}

std::unique_ptr<Source> observed(std::unique_ptr<Source> source,
                                 std::shared_ptr<AskedEvents> asked) {
  return std::make_unique<ObservedSource>(std::move(source), std::move(asked));
}

Status check_range(uint64_t from, uint64_t to) {
  if (from <= to) return {};
  return {Errc::InvalidArgument,
          fmt::format("--from {} is behind --to {}: nothing is between them", from, to),
          failures::kEmptyRange};
}

std::string why_nothing(const SelectionOptions& selection, std::string_view more) {
  const AskedEvents& asked = *selection.asked;
  const char* const what = asked.steps ? "step" : "event";
  if (!asked.last) return "the trace has no events";
  if (selection.from > *asked.last)
    return fmt::format("--from {} is behind the last {}, {}", selection.from, what, *asked.last);
  std::string out = fmt::format("no {} fits{}{}", what, asked_text(selection), more);
  for (const std::string& one : asked.words)
    if (const std::string hint = word_hint(one, asked); !hint.empty()) return out + hint;
  if (asked.untold != 0)
    out += fmt::format("; {} not told what a step left in a register, though its thread's next "
                       "step may tell it: ask for that one's $….before",
                       asked.untold == 1 ? "once it is"
                                         : fmt::format("{} times it is", asked.untold));
  for (const std::string& one : asked.symbols)
    if (const std::string hint = symbol_hint(one); !hint.empty()) return out + hint;
  for (const Spelled& one : asked.numbers)
    if (const std::string hint = number_hint(one); !hint.empty()) return out + hint;
  if (asked.unplaced.empty()) return out;
  return out + fmt::format("; the trace does not say where {} was{}: --image FILE@BASE does",
                           printable(asked.unplaced.front()),
                           asked.unplaced.size() == 1
                               ? ""
                               : fmt::format(", and {} more", asked.unplaced.size() - 1));
}

std::string hex_hint(std::string_view text) {
  const std::string_view number = text.substr(0, text.find_first_of(",."));
  const auto digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  if (number.empty() || number.size() > 16 || !std::ranges::all_of(number, digit)) return "";
  if (number.size() == 1 && number[0] <= '9') return "";  // the same in both
  return fmt::format("; is {} hexadecimal? Then it is 0x{}", number, number);
}

}  // namespace tracewell::trace
