// tracewell at FILE N: the machine's state before a step.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/step_trace.h"
#include "formats/jsonl.h"
#include "timeline/moment.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMemoryMax = uint64_t{1} << 20;  // bytes, of one --mem
constexpr size_t kDumpBytes = 16;

struct MemoryRange {
  uint64_t address = 0, size = 0;
};

struct AtOptions {
  InputOptions input;
  uint64_t step = 0;
  std::optional<uint64_t> thread;
  bool registers = false;
  std::vector<std::string> memory;
  bool json = false;
};

Result<MemoryRange> parse_range(const std::string& text) {
  std::string_view rest = text;
  const auto address = parse_number(take_until(rest, ','));
  const auto size = parse_number(rest.empty() ? "16" : rest);
  if (!address || !size || *size == 0 || *size > kMemoryMax)
    return {Errc::InvalidArgument,
            fmt::format("--mem {}: wanted is ADDR or ADDR,LEN, at most {} bytes", text,
                        kMemoryMax)};
  return MemoryRange{*address, std::min(*size - 1, UINT64_MAX - *address) + 1};
}

/// A moment and what was asked of it.
class Report {
 public:
  Report(StepTrace& trace, const AtOptions& options) : trace_(trace), options_(options) {}

  Status make(const std::vector<MemoryRange>& memory) {
    TW_RETURN_IF_ERROR(head());
    if (options_.registers || memory.empty()) TW_RETURN_IF_ERROR(registers());
    for (const MemoryRange& range : memory) dump(range);
    return {};
  }
  void print() const {
    if (options_.json)
      fmt::print("{}\n", json_.dump(-1, ' ', false, Json::error_handler_t::replace));
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
    tid_ = options_.thread.value_or(event->tid);
    json_["tid"] = tid_;
    if (behind) {
      text_ += fmt::format("behind the last step, {}\n", count - 1);
      notes();
      return {};
    }
    const Step& step = std::get<Step>(event->body);
    json_["pc"] = fmt::format("{:#x}", step.pc);
    json_["opcode"] = to_hex(step.opcode);
    text_ += step_line(*event) + "\n";
    notes();
    return {};
  }

  void notes() {
    for (const Note& note : trace_.notes) {
      if (note.step != options_.step) continue;
      text_ += fmt::format("  note: {}\n", printable(note.text));
      json_["notes"].push_back(note.text);
    }
  }

  Status registers() {
    TW_ASSIGN_OR_RETURN(const RegisterState state, timeline::registers_at(
                                                       *trace_.source, *trace_.timeline,
                                                       options_.step, tid_));
    Json values = Json::object();
    if (options_.thread) text_ += fmt::format("  thread {}:\n", tid_);
    const RegisterLayout& layout = trace_.catalog().registers;
    size_t zeros = 0;
    std::string unknown;
    for (uint32_t i = 0; i < layout.registers.size(); ++i) {
      const Register& one = layout.registers[i];
      if (!state.is_valid(i)) {
        values[one.name] = nullptr;
        unknown += " " + printable(one.name);
        continue;
      }
      const std::string value = formats::register_value_hex(
          Bytes(state.block).subspan(one.offset, one.size_bytes), trace_.catalog().endian);
      values[one.name] = value;
      if (one.size_bytes > 8 && value == "0x0")
        ++zeros;
      else
        text_ += fmt::format("  {:<9} {}\n", printable(one.name), value);
    }
    if (zeros != 0) text_ += fmt::format("  ({} wide registers are zero)\n", zeros);
    if (!unknown.empty()) text_ += fmt::format("  not known:{}\n", unknown);
    json_["registers"] = std::move(values);
    return {};
  }

  void dump(const MemoryRange& range) {
    std::vector<uint8_t> bytes(range.size), known(range.size);
    trace_.timeline->memory(options_.step, range.address, bytes, known);
    std::string all;
    for (size_t at = 0; at < bytes.size(); at += kDumpBytes) {
      std::string hex, ascii;
      for (size_t i = at; i < std::min(bytes.size(), at + kDumpBytes); ++i) {
        const std::string digits = known[i] != 0 ? fmt::format("{:02x}", bytes[i]) : "??";
        const bool plain = known[i] != 0 && bytes[i] >= 0x20 && bytes[i] < 0x7f;
        all += digits;
        hex += digits + " ";
        ascii += plain ? static_cast<char>(bytes[i]) : known[i] != 0 ? '.' : '?';
      }
      text_ += fmt::format("  {:#x}  {:<{}}|{}|\n", range.address + at, hex, 3 * kDumpBytes, ascii);
    }
    json_["memory"].push_back(Json{{"addr", fmt::format("{:#x}", range.address)}, {"bytes", all}});
  }

  StepTrace& trace_;
  const AtOptions& options_;
  uint64_t tid_ = 0;
  std::string text_;
  Json json_ = Json::object();
};

Result<int> at(const AtOptions& options) {
  std::vector<MemoryRange> memory;
  for (const std::string& text : options.memory) {
    TW_ASSIGN_OR_RETURN(const MemoryRange range, parse_range(text));
    memory.push_back(range);
  }
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input));
  Report report(trace, options);
  TW_RETURN_IF_ERROR(report.make(memory));
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
  app.add_flag("--regs", options->registers, "registers; without --mem they are shown anyway");
  app.add_option("--mem", options->memory, "memory; without LEN 16 bytes")
      ->type_name("ADDR[,LEN]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option_function<uint64_t>(
         "--thread", [options](const uint64_t& tid) { options->thread = tid; },
         "whose registers, if not those of the thread that runs the step")
      ->type_name("ID");
  app.add_flag("--json", options->json, "for scripts");
  app.footer("A byte that is not known is ??, a register that is not known null in JSON.");
  return [options](const Invocation&) {
    const auto status = at(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
