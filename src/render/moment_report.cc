#include "render/moment_report.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/text.h"
#include "formats/json/tree.h"
#include "machine/usage.h"
#include "render/call_stack.h"
#include "render/json_document.h"
#include "render/step_text.h"
#include "render/step_words.h"
#include "trace/place.h"
#include "trace/selection.h"

namespace tracewell::render {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMemoryMax = uint64_t{1} << 20;  // bytes, of one --mem
constexpr size_t kDumpBytes = 16;

struct MemoryRange {
  uint64_t address = 0, size = 0;
  std::string relative;  // how it was given, where that is by registers
  std::string hint;      // what else may have been meant by it
};

/// How a byte is shown, by ByteState: in JSON, behind its digits, and what that means.
struct StateMark {
  char letter, behind;
  std::string_view meaning;
};
constexpr StateMark kStateMarks[] = {
    {'?', ' ', ""},
    {'k', '?', "kept: it was so before others may have written there"},
    {'i', '<', "inferred: a later step finds it so, and nobody can have written in between"},
    {'t', ' ', ""},
};

Result<MemoryRange> parse_range(const std::string& text, const trace::AddressNames& names,
                                uint32_t address_bytes) {
  TW_ASSIGN_OR_RETURN(const trace::GivenPlace place,
                      trace::parse_place("--mem", text, names, address_bytes));
  const uint64_t symbol = std::min(place.symbol_bytes, kMemoryMax);
  const uint64_t last = place.last(symbol != 0 ? symbol : kDumpBytes);
  if (last - place.address >= kMemoryMax)
    return {Errc::InvalidArgument, fmt::format("--mem {}: LEN is at most {} bytes",
                                               printable(text), kMemoryMax)};
  const bool number = parse_number(std::string_view(text).substr(0, text.find(','))).has_value();
  return MemoryRange{place.address, last - place.address + 1, "",
                     number ? trace::hex_hint(text) : ""};
}

/// A moment and what was asked of it.
class Report {
 public:
  Report(const trace::StepTrace& trace, trace::Moment moment, const MomentQuestion& question,
         const Work& work)
      : catalog_(trace.catalog()),
        steps_(trace.timeline->steps()),
        moment_(std::move(moment)),
        question_(question),
        work_(work),
        words_(trace.catalog(), trace.names) {}

  /// Where an address of `memory` is to be found by registers, these are as they are there.
  Status make(std::vector<MemoryRange> memory) {
    head();
    for (size_t i = 0; i < memory.size(); ++i) {
      if (!trace::is_relative(question_.memory[i])) continue;
      TW_ASSIGN_OR_RETURN(memory[i], parse_relative(question_.memory[i]));
    }
    const bool alone = memory.empty() && !question_.stack;
    if (!question_.names.empty())
      TW_RETURN_IF_ERROR(named_registers());
    else if (question_.registers || alone)
      TW_RETURN_IF_ERROR(registers(alone));
    if (question_.stack) TW_RETURN_IF_ERROR(stack());
    for (const MemoryRange& range : memory) TW_RETURN_IF_ERROR(dump(range));
    return {};
  }
  std::string made(bool json) const { return json ? json_document(json_) + "\n" : text_; }

 private:
  void head() {
    json_["step"] = moment_.number();
    json_["tid"] = thread_number(moment_.thread());
    const trace::StepAt* const step = moment_.step();
    if (step == nullptr) {
      text_ += fmt::format("behind the last step, {}\n", steps_ - 1);
    } else {
      json_ = words_.object(*step);
      if (question_.thread) {
        json_["tid"] = moment_.thread();
        json_["step_tid"] = thread_number(step->tid);
      }
      text_ += words_.line(*step) + "\n";
    }
    for (const Note& note : moment_.notes()) {
      text_ += note_line(note) + "\n";
      json_["notes"].push_back(note.text);
    }
  }

  /// Of an address by registers, what it is stands before its length.
  Result<MemoryRange> parse_relative(const std::string& text) {
    const size_t comma = std::min(text.rfind(','), text.size());
    const std::string place = text.substr(0, comma);
    const auto address = moment_.address(place);
    if (!address.ok()) return {Errc::InvalidArgument, "--mem " + address.error().message};
    const std::string behind = comma == text.size() ? "" : text.substr(comma);
    TW_ASSIGN_OR_RETURN(MemoryRange range, parse_range(fmt::format("{:#x}{}", *address, behind),
                                                       {}, catalog_.address_bytes));
    range.relative = place;
    return range;
  }

  /// Whose registers and calls follow, where the header does not say it; once.
  std::string thread_line() {
    if (!question_.thread || std::exchange(thread_told_, true)) return "";
    const uint64_t runs = moment_.step() != nullptr ? moment_.step()->tid : 0;
    const bool others = runs != 0 && runs != moment_.thread();
    return fmt::format("  thread {}{}:\n", moment_.thread(),
                       others ? ", which does not run this step" : "");
  }

  std::string value_of(const RegisterState& state, const machine::RegisterPlace& place) const {
    const Register& one = catalog_.registers.registers[place.index];
    return formats::register_value_hex(
        machine::bytes_of(place, Bytes(state.block).subspan(one.offset, one.size_bytes),
                          catalog_.endian),
        catalog_.endian);
  }

  /// Those that were asked for by name, whatever they are.
  Status named_registers() {
    TW_ASSIGN_OR_RETURN(const RegisterState now, moment_.registers());
    Json values = Json::object();
    text_ += thread_line();
    for (const std::string& name : question_.names) {
      TW_ASSIGN_OR_RETURN(const trace::NamedRegister one,
                          trace::register_by_name(catalog_, now, name));
      const std::string value =
          one.bytes ? formats::register_value_hex(*one.bytes, catalog_.endian) : "";
      values[one.name] = value.empty() ? Json() : Json(value);
      text_ += fmt::format("  {:<9} {}\n", printable(one.name),
                           value.empty() ? "not known" : value);
    }
    json_["registers"] = std::move(values);
    return {};
  }

  /// `alone`: nothing else is to be told.
  Status registers(bool alone) {
    TW_ASSIGN_OR_RETURN(const RegisterState state, moment_.registers());
    const auto known = [](uint8_t bits) { return bits != 0; };
    if (alone && moment_.is_behind_last() && std::ranges::none_of(state.valid, known))
      return {Errc::InvalidArgument,
              fmt::format("nobody knows the registers behind the last step; it is step {}",
                          moment_.number() - 1)};
    Json values = Json::object();
    text_ += thread_line();
    const RegisterLayout& layout = catalog_.registers;
    size_t zeros = 0;
    std::string unknown, hidden;
    for (uint32_t i = 0; i < layout.registers.size(); ++i) {
      const Register& one = layout.registers[i];
      if (!state.is_valid(i)) {
        formats::json::add_member(values, one.name, nullptr);
        if (trace::is_shown_unasked(one)) unknown += " " + printable(one.name);
        continue;
      }
      const std::string value = value_of(state, {i, 0, 0, one.name});
      formats::json::add_member(values, one.name, value);
      if (!trace::is_shown_unasked(one))
        hidden += " " + printable(one.name);
      else if (one.size_bytes > 8 && value == "0x0")
        ++zeros;
      else
        text_ += fmt::format("  {:<9} {}\n", printable(one.name), value);
    }
    formats::json::join_repeated(values);
    if (zeros != 0) text_ += fmt::format("  ({} wide registers are zero)\n", zeros);
    if (!hidden.empty()) text_ += fmt::format("  not shown without --reg:{}\n", hidden);
    if (!unknown.empty()) text_ += fmt::format("  not known:{}\n", unknown);
    json_["registers"] = std::move(values);
    return {};
  }

  Status stack() {
    TW_ASSIGN_OR_RETURN(const timeline::CallStackAt stack, moment_.stack(question_.frames));
    text_ += thread_line();
    text_ += stack_text(stack, words_);
    json_["stack"] = stack_json(stack, words_);
    return {};
  }

  Status dump(const MemoryRange& range) {
    TW_ASSIGN_OR_RETURN(const KnownMemory memory, moment_.memory(range.address, range.size));
    const auto& [address, bytes, states] = memory;
    if (!range.hint.empty() && std::ranges::count(states, ByteState::Unknown) ==
                                   static_cast<std::ptrdiff_t>(states.size()))
      work_.tell(fmt::format("nothing is known of the memory at {:#x}{}", range.address,
                             range.hint));
    std::string name = words_.data(range.address);
    if (!range.relative.empty())
      name = printable(range.relative) + (name.empty() ? "" : " ") + name;
    if (!name.empty()) name.insert(0, " ");
    std::string all, letters;
    for (size_t at = 0; at < bytes.size(); at += kDumpBytes) {
      std::string hex, ascii;
      for (size_t i = at; i < std::min(bytes.size(), at + kDumpBytes); ++i) {
        const StateMark& mark = kStateMarks[static_cast<size_t>(states[i])];
        const bool known = states[i] != ByteState::Unknown;
        const std::string digits = known ? fmt::format("{:02x}", bytes[i]) : "??";
        const bool plain = known && bytes[i] >= 0x20 && bytes[i] < 0x7f;
        all += digits;
        letters += mark.letter;
        hex += digits + mark.behind;
        ascii += plain ? static_cast<char>(bytes[i]) : known ? '.' : '?';
      }
      text_ += fmt::format("  {:#x}  {:<{}}|{}|{}\n", range.address + at, hex, 3 * kDumpBytes,
                           ascii, std::exchange(name, ""));
    }
    for (const ByteState state : {ByteState::Inferred, ByteState::Kept}) {
      const StateMark& mark = kStateMarks[static_cast<size_t>(state)];
      if (std::ranges::find(states, state) != states.end())
        text_ += fmt::format("  ({} {})\n", mark.behind, mark.meaning);
    }
    Json told = {{"addr", fmt::format("{:#x}", range.address)}, {"bytes", all},
                 {"states", letters}};
    if (!range.relative.empty()) told["expression"] = range.relative;
    if (std::string data = words_.data_name(range.address); !data.empty()) told["name"] = data;
    json_["memory"].push_back(std::move(told));
    return {};
  }

  const Catalog& catalog_;
  uint64_t steps_;  // of the trace
  trace::Moment moment_;
  const MomentQuestion& question_;
  const Work& work_;
  StepWords words_;
  bool thread_told_ = false;
  std::string text_;
  Json json_ = Json::object();
};

}  // namespace

Result<std::string> moment_report(const trace::StepTrace& trace, trace::Moment moment,
                                  const MomentQuestion& question, bool json, const Work& work) {
  std::vector<MemoryRange> memory;
  for (const std::string& text : question.memory) {
    if (trace::is_relative(text)) {
      memory.emplace_back();  // Report::make() knows where that is
      continue;
    }
    TW_ASSIGN_OR_RETURN(const MemoryRange range,
                        parse_range(text, trace.names, trace.catalog().address_bytes));
    memory.push_back(range);
  }
  Report report(trace, std::move(moment), question, work);
  TW_RETURN_IF_ERROR(report.make(std::move(memory)));
  TW_RETURN_IF_ERROR(trace.answers_hold());
  return report.made(json);
}

}  // namespace tracewell::render
