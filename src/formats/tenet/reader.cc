// Tracers differ in how they spell: names and digits in either case, values with and without 0x.
// A line without a program counter is taken for one where it did not change, as in a repeated
// string instruction. Every line shows the registers before its instruction, and the accesses of
// the instruction before: tracers write a line when they come to an instruction, and put into it
// what has happened since the line before.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/steps/shown_rows.h"
#include "formats/tenet.h"
#include "formats/text_lines.h"
#include "machine/x86.h"

namespace tracewell::formats {
namespace {

using Kind = Step::MemoryAccess::Kind;

constexpr size_t kLineBytesMax = 1 << 20;
constexpr size_t kBatchEvents = 1024;
constexpr size_t kBatchBytes = 1 << 20;  // of text
constexpr size_t kNameBytesMax = 16;
constexpr size_t kCarriedBytesMax = 1 << 16;

/// In lower case; empty when it is no name.
std::string name_of(std::string_view text) {
  std::string name;
  if (text.size() > kNameBytesMax) return name;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool letter = (lower >= 'a' && lower <= 'z') || lower == '_';
    if (!letter && (name.empty() || lower < '0' || lower > '9')) return "";
    name += lower;
  }
  return name;
}

std::string_view without_0x(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return text;
}

std::optional<Kind> access_kind(std::string_view name) {
  if (name == "mr") return Kind::Read;
  if (name == "mw") return Kind::Write;
  if (name == "mrw") return Kind::ReadWrite;
  return std::nullopt;
}

/// Which machine's program counter is in this line? Empty = none.
std::string_view machine_of(std::string_view line) {
  while (!line.empty()) {
    std::string_view item = take_until(line, ',');
    const std::string name = name_of(take_until(item, '='));
    if (name == "rip") return "x86-64";
    if (name == "eip") return "i386";
  }
  return {};
}

class TenetReader final : public Source {
 public:
  TenetReader(std::shared_ptr<InputFile> file, ProblemLog& problems)
      : lines_(std::move(file)), problems_(problems),
        rows_(catalog_.registers, AccessesTold::BehindStep) {}

  void begin() {
    const std::string_view head = as_text(lines_.file().bytes()).substr(0, kSniffBytes);
    const std::string_view machine = machine_of(head.substr(0, head.find('\n')));
    catalog_.machine = machine == "i386" ? "i386" : "x86-64";
    catalog_.address_bytes = machine == "i386" ? 4 : 8;
    catalog_.registers =
        machine == "i386" ? machine::i386_layout({}) : machine::x86_64_layout({});
    catalog_.source_path = lines_.file().path();
  }

  const Catalog& catalog() const override { return catalog_; }

  Result<bool> next(Batch& batch) override {
    batch.clear();
    const size_t begin = lines_.offset();
    while (!lines_.done() && batch.size() < kBatchEvents &&
           (batch.empty() || lines_.offset() - begin < kBatchBytes)) {
      const size_t at = lines_.offset();
      const std::string_view line = lines_.take(kLineBytesMax);
      if (line.empty() && !lines_.is_long()) continue;
      if (lines_.is_long()) {
        problem_at(at, "long-line", "more than 1 MiB in a line; left out");
        rows_.gap("a line of more than 1 MiB");
        row_.clear();
        continue;
      }
      line_ = line;
      read_line(batch);
    }
    if (lines_.done()) rows_.finish(batch);
    lines_.forget();
    return !batch.empty();
  }

 private:
  /// `at` is a part of the line.
  void problem(std::string_view at, std::string code, std::string_view text) {
    const char* start = reinterpret_cast<const char*>(lines_.file().bytes().data());
    problem_at(static_cast<uint64_t>(at.data() - start), std::move(code), text);
  }
  void problem_at(uint64_t offset, std::string code, std::string_view text) {
    problems_.add({offset, Problem::Severity::Damage, std::move(code),
                   fmt::format("line {}: {}", lines_.number(), text)});
  }

  void read_line(Batch& batch) {
    std::string_view rest = line_;
    std::optional<uint64_t> pc = pc_;
    good_items_ = 0;
    unnamed_ = false;
    while (!rest.empty()) read_item(take_until(rest, ','), pc);
    pc_ = pc;
    if (!pc_ || good_items_ == 0) {
      // Its registers go on to hold, and are told with the next instruction.
      problem(line_, "no-pc", "where its instruction was is not known; left out");
      if (good_items_ != 0) rows_.add_accesses(row_);
      const bool carried = row_.bytes.size() <= kCarriedBytesMax;
      rows_.gap("a line without a program counter", carried && !unnamed_);
      row_.pieces.clear();
      row_.incomplete = false;
      if (!carried) row_.clear();
      return;
    }
    if (unnamed_) rows_.forget();
    row_.pc = *pc_;
    row_.seq = next_seq_++;
    rows_.add(row_, batch);
    row_.clear();
  }

  void read_item(std::string_view item, std::optional<uint64_t>& pc) {
    const std::string_view whole = item;
    item = trim(item);
    if (item.empty()) return;
    const std::string name = name_of(trim(take_until(item, '=')));
    item = trim(item);
    if (name.empty() || item.empty()) {
      problem(whole, "bad-item", "not NAME=VALUE; left out");
      if (const Register* one = catalog_.registers.find(name)) unknown(*one);
      unnamed_ |= name.empty();
      row_.incomplete |= name.empty();
    } else if (const auto kind = access_kind(name)) {
      if (read_access(*kind, item)) return;
      problem(whole, "bad-access", "not ADDRESS:BYTES; left out");
      row_.incomplete = true;
    } else if (const Register* pc_register = catalog_.registers.pc();
               name == "pc" || (pc_register && name == pc_register->name)) {
      pc = parse_hex(without_0x(item));
      if (pc) ++good_items_;
      else problem(whole, "bad-value", "not a program counter; left out");
    } else {
      read_register(whole, name, without_0x(item));
    }
  }

  static std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
  }

  bool read_access(Kind kind, std::string_view text) {
    const std::string_view address = without_0x(take_until(text, ':'));
    const auto at = parse_hex(address);
    const auto bytes = from_hex(without_0x(text));
    if (!at || !bytes || bytes->empty()) return false;
    const auto size = static_cast<uint32_t>(bytes->size());
    row_.pieces.push_back({kind, *at, row_.add_bytes(*bytes), size});
    ++good_items_;
    return true;
  }

  void read_register(std::string_view whole, const std::string& name, std::string_view digits) {
    const Register* found = catalog_.registers.find(name);
    if (!found) {
      problem(whole, "unknown-register", fmt::format("there is no register {}; left out", name));
      return;
    }
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    std::string padded(digits.size() % 2, '0');
    padded += digits;
    auto value = from_hex(padded);
    if (!value || value->size() > found->size_bytes) {
      problem(whole, "bad-value", "not a number that fits the register; left out");
      unknown(*found);
      return;
    }
    std::reverse(value->begin(), value->end());
    value->resize(found->size_bytes);
    row_.values.push_back({index_of(*found), row_.add_bytes(*value)});
    ++good_items_;
  }

  /// The line says that the register is another one, and not which.
  void unknown(const Register& one) {
    row_.values.push_back({index_of(one), ShownRow::Value::kUnknown});
  }
  uint32_t index_of(const Register& one) const {
    return static_cast<uint32_t>(&one - catalog_.registers.registers.data());
  }

  TextLines lines_;
  ProblemLog& problems_;
  Catalog catalog_;
  ShownRows rows_;
  ShownRow row_;  // being read
  std::string_view line_;
  std::optional<uint64_t> pc_;
  size_t good_items_ = 0;  // of the line
  bool unnamed_ = false;   // it has items of which not even the name can be read
  uint64_t next_seq_ = 0;
};

}  // namespace

/// A line of NAME=0x… with a program counter among them, as far as the head goes.
bool sniff_tenet(Bytes head) {
  const std::string_view text = as_text(head);
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  // What the head cuts is no item.
  if (end == text.size() && end == kSniffBytes) line = line.substr(0, line.rfind(','));
  if (machine_of(line).empty()) return false;
  while (!line.empty()) {
    std::string_view item = take_until(line, ',');
    if (name_of(take_until(item, '=')).empty()) return false;
    if (!item.starts_with("0x") && !item.starts_with("0X")) return false;
  }
  return true;
}

Result<std::unique_ptr<Source>> open_tenet(std::shared_ptr<InputFile> file, const OpenOptions&,
                                           ProblemLog& problems) {
  auto reader = std::make_unique<TenetReader>(std::move(file), problems);
  reader->begin();
  return std::unique_ptr<Source>(std::move(reader));
}

}  // namespace tracewell::formats
