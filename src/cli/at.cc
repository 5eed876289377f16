// tracewell at FILE N: the machine's state before a step.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/text.h"
#include "cli/at_stack.h"
#include "cli/command.h"
#include "cli/json_document.h"
#include "cli/place.h"
#include "cli/register_values.h"
#include "cli/step_text.h"
#include "cli/step_trace.h"
#include "cli/step_words.h"
#include "cli/trace_files.h"
#include "formats/json_tree.h"
#include "formats/jsonl.h"
#include "machine/usage.h"
#include "timeline/moment.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;
using timeline::ByteState;

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

struct AtOptions {
  InputOptions input;
  uint64_t step = 0;
  ImageOptions images;
  std::optional<uint64_t> thread;
  bool registers = false;
  std::vector<std::string> names;  // of registers
  std::vector<std::string> memory;
  bool stack = false;
  uint64_t frames = 64;
  bool json = false;
};

Result<MemoryRange> parse_range(const std::string& text, const AddressNames& names,
                                uint32_t address_bytes) {
  TW_ASSIGN_OR_RETURN(const GivenPlace place, parse_place("--mem", text, names, address_bytes));
  const uint64_t symbol = std::min(place.symbol_bytes, kMemoryMax);
  const uint64_t last = place.last(symbol != 0 ? symbol : kDumpBytes);
  if (last - place.address >= kMemoryMax)
    return {Errc::InvalidArgument, fmt::format("--mem {}: LEN is at most {} bytes",
                                               printable(text), kMemoryMax)};
  const bool number = parse_number(std::string_view(text).substr(0, text.find(','))).has_value();
  return MemoryRange{place.address, last - place.address + 1, "", number ? hex_hint(text) : ""};
}

/// Of an address by registers, what it is stands before its length.
Result<MemoryRange> parse_relative(const std::string& text, const Catalog& catalog,
                                   const RegisterState& state) {
  const size_t comma = std::min(text.rfind(','), text.size());
  const std::string place = text.substr(0, comma);
  auto address = relative_address(catalog, state, place);
  if (!address.ok())
    return {Errc::InvalidArgument, "--mem " + address.error().message};
  const std::string behind = comma == text.size() ? "" : text.substr(comma);
  TW_ASSIGN_OR_RETURN(MemoryRange range, parse_range(fmt::format("{:#x}{}", *address, behind), {},
                                                     catalog.address_bytes));
  range.relative = place;
  return range;
}

/// A moment and what was asked of it.
class Report {
 public:
  Report(StepTrace& trace, const AtOptions& options, AddressNames names)
      : trace_(trace), options_(options), words_(trace.catalog(), std::move(names)) {}

  /// Where an address of `memory` is to be found by registers, these are as they are there.
  Status make(std::vector<MemoryRange> memory) {
    TW_RETURN_IF_ERROR(head());
    for (size_t i = 0; i < memory.size(); ++i) {
      if (!is_relative(options_.memory[i])) continue;
      TW_ASSIGN_OR_RETURN(const RegisterState now, state());
      TW_ASSIGN_OR_RETURN(memory[i],
                          parse_relative(options_.memory[i], trace_.catalog(), now));
    }
    const bool alone = memory.empty() && !options_.stack;
    if (!options_.names.empty())
      TW_RETURN_IF_ERROR(named_registers());
    else if (options_.registers || alone)
      TW_RETURN_IF_ERROR(registers(alone));
    if (options_.stack) TW_RETURN_IF_ERROR(stack());
    for (const MemoryRange& range : memory) dump(range);
    return {};
  }
  void print() const {
    if (options_.json)
      fmt::print("{}\n", json_document(json_));
    else
      fmt::print("{}", text_);
  }

 private:
  Status head() {
    const uint64_t count = trace_.timeline->steps();
    if (options_.step > count || count == 0)
      return {Errc::InvalidArgument,
              fmt::format("there is no step {}: the trace has {}", options_.step, count)};
    json_["step"] = options_.step;
    const bool behind = options_.step == count;
    TW_ASSIGN_OR_RETURN(const Event* const event,
                        trace_.step(behind ? count - 1 : options_.step));
    if (options_.thread) TW_RETURN_IF_ERROR(check_thread(trace_, *options_.thread));
    tid_ = options_.thread.value_or(event->tid);
    json_["tid"] = thread_number(tid_);
    if (behind) {
      text_ += fmt::format("behind the last step, {}\n", count - 1);
      notes();
      return {};
    }
    Json words = words_.object(*event);
    if (options_.thread) {
      step_tid_ = event->tid;
      words["tid"] = tid_;
      words["step_tid"] = thread_number(step_tid_);
    }
    json_ = std::move(words);
    text_ += words_.line(*event) + "\n";
    notes();
    return {};
  }

  void notes() {
    for (const Note& note : notes_at(trace_.notes, options_.step)) {
      text_ += note_line(note) + "\n";
      json_["notes"].push_back(note.text);
    }
  }

  Result<RegisterState> state() {
    return timeline::registers_at(*trace_.source, *trace_.timeline, options_.step, tid_);
  }

  /// Whose registers and calls follow, where the header does not say it; once.
  std::string thread_line() {
    if (!options_.thread || std::exchange(thread_told_, true)) return "";
    const bool others = step_tid_ != 0 && step_tid_ != tid_;
    return fmt::format("  thread {}{}:\n", tid_, others ? ", which does not run this step" : "");
  }

  std::string value_of(const RegisterState& state, const machine::RegisterPlace& place) const {
    const Register& one = trace_.catalog().registers.registers[place.index];
    return formats::register_value_hex(
        machine::bytes_of(place, Bytes(state.block).subspan(one.offset, one.size_bytes),
                          trace_.catalog().endian),
        trace_.catalog().endian);
  }

  /// Those that were asked for by name, whatever they are.
  Status named_registers() {
    TW_ASSIGN_OR_RETURN(const RegisterState now, state());
    Json values = Json::object();
    text_ += thread_line();
    for (const std::string& name : options_.names) {
      TW_ASSIGN_OR_RETURN(const NamedRegister one,
                          register_by_name(trace_.catalog(), now, name));
      const std::string value =
          one.bytes ? formats::register_value_hex(*one.bytes, trace_.catalog().endian) : "";
      values[one.name] = value.empty() ? Json() : Json(value);
      text_ += fmt::format("  {:<9} {}\n", printable(one.name),
                           value.empty() ? "not known" : value);
    }
    json_["registers"] = std::move(values);
    return {};
  }

  /// `alone`: nothing else is to be told.
  Status registers(bool alone) {
    TW_ASSIGN_OR_RETURN(const RegisterState state, this->state());
    const bool behind = options_.step == trace_.timeline->steps();
    const auto known = [](uint8_t bits) { return bits != 0; };
    if (alone && behind && std::ranges::none_of(state.valid, known))
      return {Errc::InvalidArgument,
              fmt::format("nobody knows the registers behind the last step; it is step {}",
                          options_.step - 1)};
    Json values = Json::object();
    text_ += thread_line();
    const RegisterLayout& layout = trace_.catalog().registers;
    size_t zeros = 0;
    std::string unknown, hidden;
    for (uint32_t i = 0; i < layout.registers.size(); ++i) {
      const Register& one = layout.registers[i];
      if (!state.is_valid(i)) {
        formats::json::add_member(values, one.name, nullptr);
        if (is_shown(one)) unknown += " " + printable(one.name);
        continue;
      }
      const std::string value = value_of(state, {i, 0, 0, one.name});
      formats::json::add_member(values, one.name, value);
      if (!is_shown(one))
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
    timeline::CallStackOptions wanted;
    wanted.tid = tid_;
    wanted.most = options_.frames;
    TW_ASSIGN_OR_RETURN(const timeline::CallStackAt stack,
                        timeline::call_stack_at(*trace_.source, *trace_.timeline, options_.step,
                                                wanted));
    text_ += thread_line();
    text_ += stack_text(stack, words_);
    json_["stack"] = stack_json(stack, words_);
    return {};
  }

  void dump(const MemoryRange& range) {
    std::vector<uint8_t> bytes(range.size);
    std::vector<ByteState> states(range.size);
    trace_.timeline->memory(options_.step, range.address, bytes, states);
    if (!range.hint.empty() && std::ranges::count(states, ByteState::Unknown) ==
                                   static_cast<std::ptrdiff_t>(states.size()))
      fmt::print(stderr, "tracewell: nothing is known of the memory at {:#x}{}\n", range.address,
                 range.hint);
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
  }

  StepTrace& trace_;
  const AtOptions& options_;
  StepWords words_;
  uint64_t tid_ = 0;       // whose registers
  uint64_t step_tid_ = 0;  // who runs the step, with --thread; 0 = nobody knows, or there is none
  bool thread_told_ = false;
  std::string text_;
  Json json_ = Json::object();
};

Result<int> at(const AtOptions& options) {
  if (options.frames == 0) return {Errc::InvalidArgument, "--frames 0 shows nothing"};
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input, options.images));
  AddressNames names = std::move(trace.names);
  std::vector<MemoryRange> memory;
  for (const std::string& text : options.memory) {
    if (is_relative(text)) {
      memory.emplace_back();  // Report::make() knows where that is
      continue;
    }
    TW_ASSIGN_OR_RETURN(const MemoryRange range,
                        parse_range(text, names, trace.catalog().address_bytes));
    memory.push_back(range);
  }
  Report report(trace, options, std::move(names));
  TW_RETURN_IF_ERROR(report.make(std::move(memory)));
  TW_RETURN_IF_ERROR(trace.answers_hold());
  report.print();
  return static_cast<int>(kOk);
}

}  // namespace

Run at_command(CLI::App& app) {
  auto options = std::make_shared<AtOptions>();
  add_input_options(app, options->input);
  add_number_option(app, "N", options->step, "the step; their number means behind the last one")
      ->required();
  app.add_flag("--regs", options->registers,
               "registers; without --mem and --stack they are shown anyway");
  app.add_option("--reg", options->names,
                 "only these registers, parts or flags: rax,al,cs,ymm1,zf")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--mem", options->memory, "memory; without LEN 16 bytes; with --image also "
                 "NAME or NAME+N for ADDR, then all of it; '$rsp', '$rbp-0x10' and "
                 "'$rbx+$rcx*8' are where the registers lead")
      ->type_name("ADDR[,LEN]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* const stack = app.add_flag(
      "--stack", options->stack, "the calls that are open, the innermost one first");
  add_number_option(app, "--frames", options->frames, "no more than N of these")
      ->needs(stack)
      ->capture_default_str();
  add_number_option(app, "--thread", options->thread,
                    "whose registers and calls, if not those of the thread that runs the step")
      ->type_name("ID");
  add_image_options(app, options->images,
                    "the names of functions, lines and data, and instructions that are not told");
  app.add_flag("--json", options->json, "for scripts");
  app.footer(
      "A byte that is not known is ??; 2a< is inferred from a later step, 2a? was so before others "
      "may have written there; \"states\" in JSON has a letter a byte: t(old), i(nferred), k(ept), "
      "?. "
      "A register that is not known is null in JSON. Segment "
      "registers, and what only x64dbg has, are shown by --reg and in JSON.");
  return [options](const Invocation&) {
    const auto status = at(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
