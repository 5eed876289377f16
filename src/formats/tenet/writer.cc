// Tenet's log has no place for "not known": its first line must name every register, and a register
// that a later line does not name is as it was. It knows one thread. What an instruction touched
// stands in the line of the next one, with the contents that it left: what Tenet shows at a line is
// what held before that line's instruction.
#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/endian.h"
#include "formats/steps/steps_only.h"
#include "formats/tenet.h"
#include "formats/tenet/accesses.h"

namespace tracewell::formats {
namespace {

class TenetWriter final : public Sink {
 public:
  explicit TenetWriter(OutputFile file) : file_(std::move(file)) {}

  std::vector<std::string> refuses(const Catalog& catalog) const override {
    if (tenet_registers(catalog.machine).empty())
      return {fmt::format("Tenet knows x86 only, not {}", catalog.machine)};
    std::vector<std::string> out = {
        "of the registers only the general ones are kept",
        "instruction bytes, notes, times, module names and what memory held before a write are "
        "left out",
        "a register that is not known at the first instruction is shown as 0",
        "only one thread is kept, that of the first instruction",
    };
    StepsOnly::refuse_processes(catalog, out);
    return out;
  }

  Status begin(const Catalog& catalog) override {
    const auto names = tenet_registers(catalog.machine);
    if (names.empty())
      return Error{Errc::Unsupported,
                   fmt::format("Tenet knows x86 only, not {}", catalog.machine),
                   {}};
    endian_ = catalog.endian;
    const auto& registers = catalog.registers.registers;
    column_.assign(registers.size(), nullptr);
    columns_.reserve(names.size());
    for (const std::string_view name : names.first(names.size() - 1)) columns_.push_back({name});
    for (size_t i = 0; i < registers.size(); ++i)
      for (Column& column : columns_)
        if (registers[i].name == column.name) column_[i] = &column;
    pc_name_ = names.back();
    return {};
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (!step) {
        TW_RETURN_IF_ERROR(steps_.other(event, "tenet"));
        continue;
      }
      if (!tid_) tid_ = event.tid;
      if (event.tid != *tid_) {
        steps_.count("instruction{ of another thread is|s of other threads are} left out; "
                     "--where 'tid == N' chooses one thread");
        continue;
      }
      steps_.of_process(event.process);
      take(step->before);
      write_line(*step);
      TW_RETURN_IF_ERROR(file_.write(line_));
      accesses_.clear();
      append_tenet_accesses(accesses_, *step, steps_);
      take(step->registers);
    }
    return {};
  }

  Status finish() override {
    const bool more = std::any_of(columns_.begin(), columns_.end(), [](const Column& one) {
      return one.known && one.value != one.shown;
    });
    if (more) steps_.count("last instruction: what it changed in registers is left out");
    if (!accesses_.empty())
      steps_.count("last instruction: what it touched in memory is left out, for the next one's "
                   "line would tell");
    return file_.commit();
  }

  std::vector<std::string> left_out() const override { return steps_.left_out(); }

 private:
  struct Column {
    std::string_view name;
    uint64_t value = 0;
    uint64_t shown = 0;
    bool known = false;
  };

  void take(std::span<const Step::RegisterChange> changes) {
    for (const Step::RegisterChange& change : changes) {
      Column* column = change.index < column_.size() ? column_[change.index] : nullptr;
      if (!column) continue;
      column->known = !change.value.empty();
      if (column->known)
        column->value = load_uint(change.value.data(), std::min<size_t>(change.value.size(), 8),
                                  endian_);
      else
        steps_.count("register{|s} changed to what is not known; shown as before");
    }
  }

  void write_line(const Step& step) {
    line_.clear();
    auto out = std::back_inserter(line_);
    for (Column& column : columns_) {
      if (first_ && !column.known)
        steps_.count("register{ is|s are} not known at the first instruction, and shown as 0");
      if (!first_ && (!column.known || column.value == column.shown)) continue;
      fmt::format_to(out, "{}={:#x},", column.name, column.value);
      column.shown = column.value;
    }
    fmt::format_to(out, "{}={:#x}", pc_name_, step.pc);
    line_ += accesses_;
    line_ += '\n';
    first_ = false;
  }

  OutputFile file_;
  Endian endian_ = Endian::Little;
  std::vector<Column> columns_;   // as Tenet orders them
  std::vector<Column*> column_;   // by register index; nullptr = Tenet does not know it
  std::string_view pc_name_;
  std::optional<uint64_t> tid_;
  bool first_ = true;
  std::string line_;
  std::string accesses_;  // of the instruction before, for the line that comes next
  StepsOnly steps_;
};

}  // namespace

Result<std::unique_ptr<Sink>> create_tenet(OutputFile file, const SaveOptions&) {
  return std::unique_ptr<Sink>(new TenetWriter(std::move(file)));
}

}  // namespace tracewell::formats
