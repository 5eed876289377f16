#include "render/step_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files/file.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/text.h"
#include "formats/jsonl/lines.h"
#include "formats/steps/module_map.h"
#include "machine/control_flow.h"
#include "model/change_text.h"
#include "model/process_table.h"
#include "render/step_text.h"

namespace tracewell::render {
namespace {

enum Column : uint8_t {
  kIndex,
  kThread,
  kAddress,
  kModule,
  kSymbol,
  kSource,
  kOpcode,
  kDisassembly,
  kRegisters,
  kBefore,
  kMemory,
  kNote,
  kColumns,
};
struct ColumnWords {
  std::string_view name, key;  // of a table, of JSON (as `find` and jsonl spell it)
  size_t width;                // at least; what is longer moves the rest of its line
};
constexpr std::array<ColumnWords, kColumns> kWords = {{{"step", "step", 8},
                                                       {"thread", "tid", 6},
                                                       {"address", "pc", 18},
                                                       {"module", "module", 14},
                                                       {"symbol", "symbol", 24},
                                                       {"source", "source", 16},
                                                       {"opcode", "opcode", 20},
                                                       {"disassembly", "disassembly", 40},
                                                       {"registers", "registers", 24},
                                                       {"before", "before", 24},
                                                       {"memory", "memory", 24},
                                                       {"note", "note", 8}}};

class StepRows final : public Sink {
 public:
  StepRows(StepRowsOptions options, trace::AddressNames names)
      : options_(std::move(options)), names_(std::move(names)) {
    chosen_ = !options_.columns.empty();
    if (!chosen_)
      for (int column = 0; column < kColumns; ++column) options_.columns.push_back(column);
    has_notes_ = std::ranges::count(options_.columns, kNote) != 0;
  }

  Status begin(const Catalog& catalog) override {
    catalog_ = catalog;
    processes_ = ProcessTable(catalog);
    modules_ = formats::ModuleMap(catalog);
    decoder_.emplace(catalog.machine);
    TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create("-"));
    file_.emplace(std::move(file));
    if (options_.json) return {};
    line_.clear();
    for (const int column : options_.columns) cell(column, kWords[column].name);
    head_ = std::exchange(line_, {}) + '\n';
    return {};
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      processes_.learn(event);
      if (is_only_known(event)) continue;
      line_.clear();
      if (const auto* step = std::get_if<Step>(&event.body)) {
        TW_RETURN_IF_ERROR(write_held(false));
        any_step_ = true;
        options_.json ? write_object(event, *step) : write_row(event, *step);
        note_.clear();
      } else if (chosen_ && !any_step_ && !is_beside_steps(event)) {
        return {Errc::Unsupported,
                "not a trace of executed instructions; --columns are of these"};
      } else if (may_be_held(event)) {
        hold(event);
        continue;
      } else {
        TW_RETURN_IF_ERROR(write_held(true));
        write_other(event);
      }
      TW_RETURN_IF_ERROR(end_line());
    }
    return file_->flush();  // somebody is looking
  }

  Status finish() override {
    TW_RETURN_IF_ERROR(write_head());
    TW_RETURN_IF_ERROR(write_held(!any_step_));
    if (!note_.empty()) {  // behind the last step
      line_ = options_.json ? "{\"step\":null,\"note\":" : "-- ";
      if (options_.json) {
        formats::append_json_text(line_, note_);
        line_ += '}';
      } else {
        line_ += printable(note_);
      }
      TW_RETURN_IF_ERROR(end_line());
    }
    return file_->commit();
  }

 private:
  /// A mark that says when it was made, or by whom, would lose that in a step's column.
  static bool is_note(const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return mark && !mark->session && !event.time_ns && event.tid == 0 && event.cpu < 0 &&
           event.process == 0;
  }

  /// Frames and hooks are of other traces.
  static bool is_beside_steps(const Event& event) {
    return !std::holds_alternative<Frame>(event.body) && !std::holds_alternative<Hook>(event.body);
  }

  /// A step may follow, whose note it is or is in front of.
  bool may_be_held(const Event& event) const {
    if (has_notes_ && is_note(event)) return true;
    return !held_.empty() && (std::holds_alternative<Mark>(event.body) ||
                              std::holds_alternative<Change>(event.body) ||
                              std::holds_alternative<Lost>(event.body));
  }

  void hold(const Event& event) {
    const bool note = is_note(event);
    if (note && !note_.empty()) note_ += '\n';
    if (note) note_ += std::get<Mark>(event.body).text;
    write_other(event);
    held_.push_back({std::exchange(line_, {}), note});
  }

  /// `notes`: no step has them, so that they have lines of their own, too.
  Status write_held(bool notes) {
    for (Held& one : std::exchange(held_, {})) {
      if (one.is_note && !notes) continue;
      line_ = std::move(one.line);
      TW_RETURN_IF_ERROR(end_line());
    }
    if (notes) note_.clear();
    line_.clear();
    return {};
  }

  Status end_line() {
    if (!options_.json) line_.erase(line_.find_last_not_of(' ') + 1);
    line_ += '\n';
    TW_RETURN_IF_ERROR(write_head());
    return file_->write(line_);
  }

  /// Late, so that nothing is written where the events prove to be others.
  Status write_head() {
    return head_.empty() ? Status() : file_->write(std::exchange(head_, {}));
  }

  void cell(int column, std::string_view text) {
    const bool last = column == options_.columns.back();
    line_ += text;
    if (last) return;
    if (text.size() < kWords[column].width) line_.append(kWords[column].width - text.size(), ' ');
    line_ += "  ";
  }

  void write_other(const Event& event) {
    const uint32_t pid = processes_.pid(event.process);
    if (options_.json) return formats::append_event_json(line_, catalog_, event, false, pid);
    line_ = fmt::format("-- {} ", event.seq);
    if (const auto* mark = std::get_if<Mark>(&event.body))
      line_ += printable(mark->text);
    else if (const auto* lost = std::get_if<Lost>(&event.body))
      line_ += fmt::format("lost: {}", printable(lost->why));
    else if (const auto* change = std::get_if<Change>(&event.body))
      line_ += change_text(event, *change, pid);
    else
      line_ += "not an instruction";
  }

  std::string text_of(const std::function<std::string(uint64_t)>& name_of, uint64_t address) const {
    return name_of ? name_of(address) : "";
  }

  /// Of an image, else what the trace says.
  std::string module_of(uint64_t pc) const {
    if (std::string name = text_of(names_.module, pc); !name.empty()) return name;
    const auto place = modules_.find(pc);
    if (!place) return "";
    const std::string& path = catalog_.modules[place->module].path;
    return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 = 0
  }

  std::string changes(std::span<const Step::RegisterChange> all) const {
    std::string out;
    for (const Step::RegisterChange& change : all) {
      const size_t at = out.size();
      if (append_change(out, catalog_, change) && at != 0) out.insert(at, " ");
    }
    return out;
  }

  static std::string accesses(const Step& step) {
    std::string out;
    for (const Step::MemoryAccess& access : step.memory) {
      const size_t at = out.size();
      if (append_access(out, access) && at != 0) out.insert(at, " ");
    }
    return out;
  }

  /// As text, whatever it holds.
  std::string text_in(int column, const Event& event, const Step& step) const {
    switch (column) {
      case kIndex:
        return fmt::format("{}", event.seq);
      case kThread:
        return event.tid == 0 ? "" : fmt::format("{}", event.tid);
      case kAddress:
        return fmt::format("{:#x}", step.pc);
      case kModule:
        return module_of(step.pc);
      case kSymbol:
        return text_of(names_.symbol, step.pc);
      case kSource:
        return text_of(names_.source, step.pc);
      case kOpcode:
        return to_hex(step.opcode);
      case kDisassembly:
        return decoder_->text(step.opcode, step.pc);
      case kRegisters:
        return changes(step.registers);
      case kBefore:
        return changes(step.before);
      case kMemory:
        return accesses(step);
      default:
        return note_;
    }
  }

  void write_row(const Event& event, const Step& step) {
    for (const int column : options_.columns) cell(column, printable(text_in(column, event, step)));
  }

  void write_object(const Event& event, const Step& step) {
    line_ = "{";
    for (const int column : options_.columns) {
      if (line_.size() != 1) line_ += ',';
      line_ += fmt::format("\"{}\":", kWords[column].key);
      if (column == kRegisters) {
        put_registers(step.registers);
      } else if (column == kBefore) {
        put_registers(step.before);
      } else if (column == kMemory) {
        put_memory(step);
      } else if (const std::string text = text_in(column, event, step); text.empty()) {
        line_ += "null";
      } else if (column == kIndex || column == kThread) {
        line_ += text;
      } else {
        formats::append_json_text(line_, text);
      }
    }
    line_ += '}';
  }

  void put_registers(std::span<const Step::RegisterChange> all) {
    const auto& registers = catalog_.registers.registers;
    line_ += '{';
    for (const Step::RegisterChange& change : all) {
      if (change.index >= registers.size()) continue;
      if (line_.back() != '{') line_ += ',';
      formats::append_json_text(line_, registers[change.index].name);
      line_ += change.value.empty()
                   ? ":null"
                   : fmt::format(":\"{}\"",
                                 formats::register_value_hex(change.value, catalog_.endian));
    }
    line_ += '}';
  }

  void put_memory(const Step& step) {
    line_ += '[';
    for (const Step::MemoryAccess& access : step.memory) {
      if (access.kind == Step::MemoryAccess::Kind::Nearby) continue;
      if (line_.back() != '[') line_ += ',';
      line_ += fmt::format("{{\"addr\":\"{:#x}\",\"size\":{},\"access\":\"{}\"", access.address,
                           access.size, formats::kAccessNames[static_cast<size_t>(access.kind)]);
      if (!access.old_bytes.empty())
        line_ += fmt::format(",\"old\":\"{}\"", to_hex(access.old_bytes));
      if (!access.new_bytes.empty())
        line_ += fmt::format(",\"new\":\"{}\"", to_hex(access.new_bytes));
      line_ += '}';
    }
    line_ += ']';
  }

  StepRowsOptions options_;
  trace::AddressNames names_;
  Catalog catalog_;
  ProcessTable processes_;
  formats::ModuleMap modules_;
  std::optional<machine::FlowDecoder> decoder_;
  std::optional<OutputFile> file_;
  bool has_notes_ = false;
  bool any_step_ = false;
  bool chosen_ = false;  // the columns, by the user
  std::string head_;  // the first line, until it is written
  std::string note_;  // for the next step
  struct Held {
    std::string line;
    bool is_note;
  };
  std::vector<Held> held_;  // what was written since that began
  std::string line_;
};

}  // namespace

std::vector<std::string> column_names() {
  std::vector<std::string> out;
  for (const ColumnWords& one : kWords) out.emplace_back(one.name);
  return out;
}

Result<std::vector<int>> parse_columns(const std::vector<std::string>& names) {
  std::vector<int> out;
  for (const std::string& name : names) {
    // By the key of JSON, too; and a step's number was an index once.
    const auto at = std::ranges::find_if(kWords, [&](const ColumnWords& one) {
      return one.name == name || one.key == name || (name == "index" && one.key == "step");
    });
    if (at == kWords.end())
      return {Errc::InvalidArgument, fmt::format("there is no column {}; there are {}",
                                                 printable(name),
                                                 fmt::join(column_names(), ", "))};
    const auto column = static_cast<int>(at - kWords.begin());
    if (std::ranges::count(out, column) != 0)
      return {Errc::InvalidArgument, fmt::format("column {} is there twice", name)};
    out.push_back(column);
  }
  return out;
}

std::string image_columns(const std::vector<int>& columns) {
  std::string out;
  for (const int column : columns)
    if (column == kSymbol || column == kSource)
      out += (out.empty() ? "" : ",") + std::string(kWords[column].name);
  return out;
}

std::unique_ptr<Sink> step_rows(StepRowsOptions options, trace::AddressNames names) {
  return std::make_unique<StepRows>(std::move(options), std::move(names));
}

}  // namespace tracewell::render
