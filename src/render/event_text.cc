#include "render/event_text.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/counted.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "base/text/time_text.h"
#include "formats/json/text.h"
#include "machine/control_flow.h"
#include "model/change_text.h"
#include "render/step_text.h"
#include "report/processes.h"

namespace tracewell::render {
namespace {

using BlockKind = FrameBlock::Kind;
constexpr size_t kLineBytes = 16;   // of memory, a line
constexpr size_t kTextColumns = 4;      // of registers
constexpr size_t kValueWidth = 18;  // 0x and sixteen digits

class TextSink final : public Sink {
 public:
  TextSink(bool color, trace::AddressNames names) : color_(color), names_(std::move(names)) {}

  Status begin(const Catalog& catalog) override {
    catalog_ = catalog;
    decoder_.emplace(catalog.machine);
    processes_.emplace(catalog);
    for (const TracepointDef& one : catalog.tracepoints)
      if (auto text = location_text(one); !text.empty())
        locations_.try_emplace(static_cast<int64_t>(one.number), std::move(text));
    for (const VariableDef& one : catalog.variables)
      variable_names_[one.number] = printable(one.name);
    TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create("-"));
    file_.emplace(std::move(file));
    return {};
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      processes_->learn(event);
      if (is_only_known(event)) continue;
      text_.clear();
      head(event);
      if (const auto* change = std::get_if<Change>(&event.body))
        put("  {}{}", change_text(event, *change, processes_->told(event)), head_tail_);
      else
        std::visit([this](const auto& body) { write_body(body); }, event.body);
      TW_RETURN_IF_ERROR(file_->write(text_));
    }
    return file_->flush();  // somebody is looking
  }

  Status finish() override { return file_->commit(); }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void head(const Event& event) {
    if (color_) text_ += "\x1b[1m";
    put("{} {}", kEventKinds[event.body.index()], event.seq);
    if (color_) text_ += "\x1b[0m";
    head_tail_.clear();
    if (event.tid != 0) head_tail_ += fmt::format("  thread {}", event.tid);
    if (const uint32_t pid = event.tid == 0 ? 0 : processes_->told(event);
        pid != 0 && !processes_->says_the_same(event))
      head_tail_ += fmt::format(" of process {}", pid);
    if (event.cpu >= 0) head_tail_ += fmt::format("  cpu {}", event.cpu);
    if (event.time_ns) head_tail_ += "  " + time_text(*event.time_ns);
    head_tail_ += '\n';
  }

  /// " <name>", if there is one.
  static std::string name_text(const std::function<std::string(uint64_t)>& name_of,
                               uint64_t address) {
    const std::string name = name_of ? name_of(address) : "";
    return name.empty() ? "" : fmt::format(" <{}>", printable(name));
  }

  void write_body(const Frame& frame) {
    put("  tracepoint {}", frame.tracepoint);
    const auto location = locations_.find(frame.tracepoint);
    if (location != locations_.end()) put(" at {}", location->second);
    if (frame.pc) put("  pc {:#x}{}", *frame.pc, name_text(names_.code, *frame.pc));
    text_ += head_tail_;
    for (const FrameBlock& block : frame.blocks) {
      switch (block.kind) {
        case BlockKind::Registers:
          write_registers(frame, block);
          break;
        case BlockKind::Memory:
          write_memory(block.address, block.bytes);
          break;
        case BlockKind::Variable:
          write_variable(block);
          break;
        case BlockKind::Static:
          write_text(as_text(block.bytes));
          break;
      }
    }
  }

  void write_text(std::string_view text) {
    if (text.ends_with('\0')) text.remove_suffix(1);
    put("  static data \"{}\"\n", printable(text));
  }
  void write_variable(const FrameBlock& block) {
    const auto name = variable_names_.find(block.number);
    if (name != variable_names_.end() && !name->second.empty())
      put("  ${} = {}\n", name->second, block.value);
    else
      put("  variable {} = {}\n", block.number, block.value);
  }

  /// Numbers in columns; what is wider (vectors), a line each unless it is zero.
  void write_registers(const Frame& frame, const FrameBlock& block) {
    size_t column = 0;
    size_t zeros = 0;
    wide_.clear();
    const auto write_one = [&](const Register& one, Bytes value) {
      const std::string number = formats::register_value_hex(value, catalog_.endian);
      if (one.size_bytes > 8) {
        if (number == "0x0")
          ++zeros;
        else
          wide_ += fmt::format("  {:<9} {}\n", printable(one.name), number);
        return;
      }
      put("{}{:<9} {:<{}}", column == 0 ? "  " : "  ", printable(one.name), number,
          column + 1 == kTextColumns ? 0 : kValueWidth);
      if (++column == kTextColumns) end_line(column);
    };
    formats::each_collected(catalog_.registers, frame, block, write_one);
    if (column != 0) end_line(column);
    text_ += wide_;
    if (zeros != 0) put("  ({} wide registers are zero)\n", zeros);
    if (catalog_.registers.empty())
      put("  registers: {} bytes in an unknown layout\n", block.bytes.size());
  }

  void end_line(size_t& column) {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
    column = 0;
  }

  void write_memory(uint64_t address, Bytes bytes) {
    std::string name = name_text(names_.data, address);
    if (bytes.empty()) put("  {:#x}  (nothing)\n", address);
    for (size_t at = 0; at < bytes.size(); at += kLineBytes) {
      const Bytes line = bytes.subspan(at, std::min(kLineBytes, bytes.size() - at));
      std::string hex;
      std::string ascii;
      for (const uint8_t byte : line) {
        hex += fmt::format("{:02x} ", byte);
        ascii += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
      }
      put("  {:#x}  {:<{}}|{}|{}{}\n", address + at, hex, 3 * kLineBytes, ascii,
          name.empty() ? "" : " ", name);
      name.clear();
    }
  }

  void write_body(const Step& step) {
    put("  pc {:#x}{}  {}", step.pc, name_text(names_.code, step.pc), to_hex(step.opcode));
    if (const std::string text = decoder_->text(step.opcode, step.pc); !text.empty())
      put("  {}", text);
    for (const Step::RegisterChange& change : step.registers) put_change(change);
    for (const Step::MemoryAccess& access : step.memory) put_access(access);
    if (!step.after_known) text_ += "  (what else it changed is not known)";
    if (step.memory_incomplete) text_ += "  (not all of its memory was recorded)";
    text_ += head_tail_;
    if (!step.before.empty()) write_before(step.before);
  }

  void put_change(const Step::RegisterChange& change) {
    const size_t at = text_.size();
    if (append_change(text_, catalog_, change)) text_.insert(at, "  ");
  }

  void put_access(const Step::MemoryAccess& access) {
    const size_t at = text_.size();
    if (append_access(text_, access)) text_.insert(at, "  ");
  }

  /// What held before the step and was not told yet; of the wide ones only those that are not zero.
  /// What is not known any more is counted: behind a hole that is all there was.
  void write_before(std::span<const Step::RegisterChange> before) {
    text_ += "  before:";
    size_t zeros = 0, unknown = 0;
    for (const Step::RegisterChange& change : before) {
      const bool zero = std::all_of(change.value.begin(), change.value.end(),
                                    [](uint8_t byte) { return byte == 0; });
      if (change.value.empty())
        ++unknown;
      else if (change.value.size() > 8 && zero)
        ++zeros;
      else
        put_change(change);
    }
    if (zeros != 0) put("  ({} wide registers are zero)", zeros);
    if (unknown != 0) put("  (not known any more: {})", unknown);
    text_ += '\n';
  }

  void write_body(const Hook& hook) {
    put("  {:04x}.{:x}", hook.id, hook.subhook);
    for (const uint64_t word : hook.words) put(" {:#x}", word);
    if (!hook.data.empty()) put("  {}", to_hex(hook.data));
    text_ += head_tail_;
  }

  void write_body(const Mark& mark) {
    put("  {}", printable(mark.text));
    text_ += head_tail_;
  }

  void write_body(const Change&) {}  // its words are more than its own

  void write_body(const Lost& lost) {
    if (lost.count != 0) put("  {}", counted(lost.count, "event"));
    put("  {}", printable(lost.why));
    text_ += head_tail_;
  }

  bool color_;
  trace::AddressNames names_;
  Catalog catalog_;
  std::optional<machine::FlowDecoder> decoder_;
  std::optional<report::Processes> processes_;
  std::map<int64_t, std::string> locations_;
  std::map<int64_t, std::string> variable_names_;
  std::optional<OutputFile> file_;
  std::string text_, head_tail_, wide_;
};

}  // namespace

std::unique_ptr<Sink> text_sink(bool color, trace::AddressNames names) {
  return std::make_unique<TextSink>(color, std::move(names));
}

std::string location_text(const TracepointDef& tracepoint) {
  for (const TracepointDef::Source& source : tracepoint.sources)
    if (source.type == "at") return printable(source.text);
  return "";
}

}  // namespace tracewell::render
