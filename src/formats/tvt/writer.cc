// The viewer takes a row's registers by their place, as whole numbers, and has no word for "not
// known". Threads, and numbers of rows that are not their place, are members of ours that it does
// not look at.
#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/jsonl_value.h"
#include "formats/json/text.h"
#include "formats/steps/memory_pieces.h"
#include "formats/steps/steps_only.h"
#include "formats/tvt.h"
#include "machine/control_flow.h"
#include "model/thread_registers.h"

namespace tracewell::formats {
namespace {

using Kind = Step::MemoryAccess::Kind;

constexpr uint32_t kNumberBytesMax = 8;
// More than machines have. Each row has all of them, whatever a step changes: tens of thousands
// would make gigabytes of a few megabytes.
constexpr size_t kColumnsMax = 1024;
/// By Step::MemoryAccess::Kind. One that is both shows what it wrote.
constexpr std::string_view kAccessWords[] = {"READ", "WRITE", "WRITE"};

/// Text for JSON, whatever is in it; lines stay lines.
std::string printable_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += printable(line) + '\n';
  out.pop_back();
  return out;
}

class TvtWriter final : public Sink {
 public:
  explicit TvtWriter(OutputFile file) : file_(std::move(file)) {}

  std::vector<std::string> refuses(const Catalog& catalog) const override {
    std::vector<std::string> out = {
        "times, module names, sessions and what memory held before a write are left out",
        "a register that is not known is shown as 0",
    };
    StepsOnly::refuse_processes(catalog, out);
    const auto& registers = catalog.registers.registers;
    const auto wide = std::count_if(registers.begin(), registers.end(), [](const Register& one) {
      return one.size_bytes > kNumberBytesMax;
    });
    if (wide != 0)
      out.push_back(fmt::format("{} registers of more than 64 bits are left out", wide));
    if (registers.size() > kColumnsMax + static_cast<size_t>(wide))
      out.push_back(fmt::format("registers behind the first {} are left out", kColumnsMax));
    return out;
  }

  Status begin(const Catalog& catalog) override;

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      if (const auto* step = std::get_if<Step>(&event.body)) {
        steps_.of_process(event.process);
        write_row(event, *step);
        TW_RETURN_IF_ERROR(file_.write(line_));
        continue;
      }
      const auto* mark = std::get_if<Mark>(&event.body);
      if (mark && mark->session) {
        by_thread_.clear();
      } else if (mark && !mark->text.empty()) {
        if (!comment_.empty()) comment_ += '\n';
        comment_ += mark->text;
        ++comment_notes_;
      } else {
        TW_RETURN_IF_ERROR(steps_.other(event, "tvt"));
      }
    }
    return {};
  }

  Status finish() override {
    steps_.count("note{|s} behind the last instruction {is|are} left out", comment_notes_);
    TW_RETURN_IF_ERROR(file_.write(rows_ == 0 ? "]}\n" : "\n]}\n"));
    return file_.commit();
  }

  std::vector<std::string> left_out() const override { return steps_.left_out(); }

 private:
  void write_row(const Event& event, const Step& step);
  void write_registers(const RegisterState& state, uint64_t pc);
  void write_memory(const Step& step);
  void take(RegisterState& state, std::span<const Step::RegisterChange> changes);

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(line_), format, std::forward<Args>(args)...);
  }

  OutputFile file_;
  std::optional<machine::FlowDecoder> decoder_;
  RegisterLayout layout_;
  Endian endian_ = Endian::Little;
  std::vector<uint32_t> columns_;  // indices into the layout
  ThreadRegisters by_thread_;
  uint64_t rows_ = 0;
  std::string comment_;  // for the next row
  uint64_t comment_notes_ = 0;  // that it consists of
  std::string line_;
  std::vector<MemoryPiece> pieces_;
  StepsOnly steps_;
};

Status TvtWriter::begin(const Catalog& catalog) {
  layout_ = catalog.registers;
  endian_ = catalog.endian;
  decoder_.emplace(catalog.machine);
  const std::string arch = catalog.machine == "x86-64" ? "x64"
                                : catalog.machine == "i386" ? "x86"
                                                            : catalog.machine;
  line_ = "{\"arch\":";
  append_json_text(line_, printable(arch));
  line_ += ",\"ip_reg\":";
  append_json_text(line_, layout_.pc() ? printable(layout_.pc()->name) : "");
  put(",\"pointer_size\":{},\"regs\":{{", catalog.address_bytes);
  for (uint32_t i = 0; i < layout_.registers.size(); ++i) {
    const Register& one = layout_.registers[i];
    if (columns_.size() == kColumnsMax) break;
    if (one.size_bytes == 0 || one.size_bytes > kNumberBytesMax || one.name.empty()) continue;
    if (!columns_.empty()) line_ += ',';
    append_json_text(line_, printable(one.name));
    put(":{}", columns_.size());
    columns_.push_back(i);
  }
  line_ += "},\"reg_sizes\":[";
  for (const uint32_t index : columns_) put("{},", layout_.registers[index].size_bytes);
  if (line_.back() == ',') line_.pop_back();
  line_ += ']';
  for (const auto& [key, text] : catalog.extras) {
    if (!key.starts_with(kTvtExtra)) continue;
    const std::string_view name = std::string_view(key).substr(kTvtExtra.size());
    if (is_tvt_member(name) || !json::parse(text)) continue;
    line_ += ',';
    append_json_text(line_, printable(name));
    line_ += ':';
    line_ += text;
  }
  line_ += ",\"trace\":[";
  return file_.write(line_);
}

void TvtWriter::take(RegisterState& state, std::span<const Step::RegisterChange> changes) {
  for (const Step::RegisterChange& change : changes)
    if (change.index < layout_.registers.size()) state.set(layout_, change.index, change.value);
}

void TvtWriter::write_row(const Event& event, const Step& step) {
  if (by_thread_.is_full(layout_, event.tid)) by_thread_.clear();
  RegisterState& state = by_thread_.of(layout_, event.tid);
  take(state, step.before);
  line_ = rows_ == 0 ? "\n" : ",\n";
  put("{{\"id\":{},\"ip\":{}", rows_, step.pc);
  if (event.seq != rows_) put(",\"seq\":{}", event.seq);
  if (event.tid != 0) put(",\"thread\":{}", event.tid);
  line_ += ",\"disasm\":";
  append_json_text(line_, decoder_->text(step.opcode, step.pc));
  line_ += ",\"comment\":";
  append_json_text(line_, printable_lines(comment_));
  put(",\"opcodes\":\"{}\"", to_hex(step.opcode));
  write_registers(state, step.pc);
  write_memory(step);
  line_ += '}';
  take(state, step.registers);
  comment_.clear();
  comment_notes_ = 0;
  ++rows_;
}

void TvtWriter::write_registers(const RegisterState& state, uint64_t pc) {
  bool unknown = false;
  line_ += ",\"regs\":[";
  for (const uint32_t index : columns_) {
    const Register& one = layout_.registers[index];
    const bool is_pc = layout_.pc_index == index;
    unknown |= !is_pc && !state.is_valid(index);
    put("{},", is_pc ? pc : load_uint(state.block.data() + one.offset, one.size_bytes, endian_));
  }
  if (line_.back() == ',') line_.pop_back();
  line_ += ']';
  if (unknown) steps_.count("row{ shows|s show} registers that are not known as 0");
}

void TvtWriter::write_memory(const Step& step) {
  memory_pieces(step, steps_, pieces_);
  line_ += ",\"mem\":[";
  for (const MemoryPiece& piece : pieces_) {
    const uint64_t value = load_uint(piece.bytes.data(), piece.bytes.size(), endian_);
    put("{{\"access\":\"{}\",\"addr\":{},\"value\":{},\"size\":{}}},",
        kAccessWords[static_cast<size_t>(piece.kind)], piece.address, value, piece.bytes.size());
  }
  if (line_.back() == ',') line_.pop_back();
  line_ += ']';
}

}  // namespace

Result<std::unique_ptr<Sink>> create_tvt(OutputFile file, const SaveOptions&) {
  return std::unique_ptr<Sink>(new TvtWriter(std::move(file)));
}

}  // namespace tracewell::formats
