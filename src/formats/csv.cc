// Comma-separated values, for spreadsheets: a header line, then one event a line. RFC 4180: lines
// end in CR LF, a field with a comma, quote or line end is quoted. Written only;
// docs/formats/csv.md
#include "formats/csv.h"

#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/format.h"
#include "formats/json/text.h"
#include "model/change_text.h"
#include "model/process_table.h"

namespace tracewell::formats {
namespace {

using Kind = FrameBlock::Kind;
constexpr std::string_view kExtensions[] = {"csv"};
constexpr std::string_view kFormulaBegins = "=+-@\t\r";

enum Column : uint8_t {
  Seq,
  EventKind,
  Tid,
  TimeNs,
  Cpu,
  Tracepoint,
  Pc,
  Registers,
  Before,
  Memory,
  Variables,
  Static,
  Opcode,
  Id,
  Subhook,
  Words,
  Data,
  Count,
  Text,
  Pid,
  ProcessNumber,
  kColumns,
};
constexpr std::string_view kHeader =
    "seq,kind,tid,time_ns,cpu,tracepoint,pc,registers,before,memory,variables,static,opcode,id,"
    "subhook,words,data,count,text,pid,process\r\n";

class CsvWriter final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions& options) {
    return std::unique_ptr<Sink>(new CsvWriter(std::move(file), options.csv_safe));
  }

  std::vector<std::string> refuses(const Catalog&) const override {
    return {"definitions, modules, status and target description have no place in CSV"};
  }

  Status begin(const Catalog& catalog) override {
    catalog_ = catalog;
    processes_ = ProcessTable(catalog);
    return file_.write(kHeader);
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      processes_.learn(event);
      if (is_only_known(event)) continue;
      for (std::string& field : fields_) field.clear();
      fill(event);
      if (const auto* change = std::get_if<Change>(&event.body))
        fields_[Text] = change_text(event, *change, processes_.pid(event.process));
      else
        std::visit([this](const auto& body) { fill_body(body); }, event.body);
      TW_RETURN_IF_ERROR(file_.write(line()));
    }
    return {};
  }

  Status finish() override { return file_.commit(); }

 private:
  CsvWriter(OutputFile file, bool safe) : file_(std::move(file)), safe_(safe) {}

  template <class... Args>
  void put(Column column, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(fields_[column]), format, std::forward<Args>(args)...);
  }
  /// A blank between the items of one field.
  void separate(Column column) {
    if (!fields_[column].empty()) fields_[column] += ' ';
  }

  void fill(const Event& event) {
    put(Seq, "{}", event.seq);
    put(EventKind, "{}", kEventKinds[event.body.index()]);
    if (event.tid != 0) put(Tid, "{}", event.tid);
    if (event.time_ns) put(TimeNs, "{}", *event.time_ns);
    if (event.cpu >= 0) put(Cpu, "{}", event.cpu);
    if (const uint32_t pid = processes_.pid(event.process)) put(Pid, "{}", pid);
    if (event.process != 0) put(ProcessNumber, "{}", event.process);
  }

  void put_register(Column column, const Register& one, Bytes value) {
    separate(column);
    put(column, "{}={}", printable(one.name),
        value.empty() ? "?" : register_value_hex(value, catalog_.endian));
  }

  void fill_body(const Frame& frame) {
    put(Tracepoint, "{}", frame.tracepoint);
    if (frame.pc) put(Pc, "{:#x}", *frame.pc);
    for (const FrameBlock& block : frame.blocks) {
      switch (block.kind) {
        case Kind::Registers:
          each_collected(catalog_.registers, frame, block, [&](const Register& one, Bytes value) {
            put_register(Registers, one, value);
          });
          break;
        case Kind::Memory:
          separate(Memory);
          put(Memory, "{:#x}:{}", block.address, to_hex(block.bytes));
          break;
        case Kind::Variable:
          separate(Variables);
          put(Variables, "{}={}", block.number, block.value);
          break;
        case Kind::Static:
          separate(Static);
          fields_[Static] += to_hex(block.bytes);
          break;
      }
    }
  }

  void fill_body(const Step& step) {
    put(Pc, "{:#x}", step.pc);
    fields_[Opcode] = to_hex(step.opcode);
    put_changes(Registers, step.registers);
    put_changes(Before, step.before);
    for (const Step::MemoryAccess& access : step.memory) put_access(access);
  }

  void put_changes(Column column, std::span<const Step::RegisterChange> changes) {
    for (const Step::RegisterChange& change : changes)
      if (change.index < catalog_.registers.registers.size())
        put_register(column, catalog_.registers.registers[change.index], change.value);
  }

  /// `?` and the size stand for bytes that are not known.
  void put_access(const Step::MemoryAccess& access) {
    using Access = Step::MemoryAccess::Kind;
    constexpr std::string_view kLetters[] = {"r", "w", "rw", "n"};
    auto bytes = [&](Bytes known) {
      return known.empty() ? fmt::format("?{}", access.size) : to_hex(known);
    };
    separate(Memory);
    put(Memory, "{}:{:#x}:", kLetters[static_cast<size_t>(access.kind)], access.address);
    if (access.kind != Access::Write) put(Memory, "{}", bytes(access.old_bytes));
    if (access.kind == Access::ReadWrite) put(Memory, ">");
    if (access.kind == Access::Write || access.kind == Access::ReadWrite)
      put(Memory, "{}", bytes(access.new_bytes));
  }

  void fill_body(const Hook& hook) {
    put(Id, "{:04x}", hook.id);
    put(Subhook, "{}", hook.subhook);
    for (const uint64_t word : hook.words) {
      separate(Words);
      put(Words, "{:#x}", word);
    }
    fields_[Data] = to_hex(hook.data);
  }

  void fill_body(const Mark& mark) { fields_[Text] = printable(mark.text); }

  void fill_body(const Change&) {}  // its words are more than its own

  void fill_body(const Lost& lost) {
    put(Count, "{}", lost.count);
    fields_[Text] = printable(lost.why);
  }

  /// Numbers are no text: -1 is no formula.
  static bool is_text(size_t column) {
    return column >= Registers && column != Id && column != Subhook && column != Count &&
           column != Pid && column != ProcessNumber;
  }

  const std::string& line() {
    line_.clear();
    for (size_t column = 0; column < kColumns; ++column) {
      if (column != 0) line_ += ',';
      put_csv_cell(line_, fields_[column], safe_ && is_text(column));
    }
    line_ += "\r\n";
    return line_;
  }

  OutputFile file_;
  const bool safe_;
  Catalog catalog_;
  ProcessTable processes_;
  std::string fields_[kColumns];
  std::string line_;
};

}  // namespace

void put_csv_cell(std::string& line, std::string_view text, bool safe) {
  const bool formula = safe && !text.empty() && kFormulaBegins.find(text[0]) != text.npos;
  const std::string_view quoted = safe ? ",\"\r\n;\t" : ",\"\r\n";
  if (!formula && text.find_first_of(quoted) == text.npos) {
    line += text;
    return;
  }
  line += '"';
  if (formula) line += '\'';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

const Format& csv_format() {
  static const Format kFormat{"csv",   kExtensions, "comma-separated values", false,
                              nullptr, nullptr,     CsvWriter::create};
  return kFormat;
}

}  // namespace tracewell::formats
