// Rows are parsed one at a time: the document as a whole may be larger than memory. Where one does
// not parse, the next one that looks like the start of a row is gone on with.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/text/hex.h"
#include "formats/json/jsonl_value.h"
#include "formats/json/scan.h"
#include "formats/steps/shown_rows.h"
#include "formats/tvt.h"
#include "formats/tvt/header.h"

namespace tracewell::formats {
namespace {

using json::Json;
using Kind = Step::MemoryAccess::Kind;

constexpr size_t kRowBytesMax = 1 << 18;
constexpr size_t kBatchEvents = 1024;
constexpr size_t kBatchBytes = 1 << 20;  // of text
constexpr size_t kForgetBytes = 32 << 20;

class TvtReader final : public Source {
 public:
  TvtReader(std::shared_ptr<InputFile> file, TvtHeader header, ProblemLog& problems)
      : file_(std::move(file)),
        text_(as_text(file_->bytes())),
        scan_(text_, header.rows_begin),
        forgotten_(header.rows_begin),
        problems_(problems),
        catalog_(std::move(header.catalog)),
        columns_(std::move(header.columns)),
        rows_(catalog_.registers) {}

  const Catalog& catalog() const override { return catalog_; }

  Result<bool> next(Batch& batch) override {
    batch.clear();
    const size_t begin = scan_.at();
    while (!done_ && batch.size() < kBatchEvents &&
           (batch.empty() || scan_.at() - begin < kBatchBytes))
      read_next(batch);
    if (done_) rows_.finish(batch);
    if (scan_.at() - forgotten_ > kForgetBytes) {
      file_->forget(forgotten_, scan_.at() - forgotten_);
      forgotten_ = scan_.at();
    }
    return !batch.empty();
  }

 private:
  void problem(size_t at, std::string code, std::string text) {
    problems_.add({at, Problem::Severity::Damage, std::move(code), std::move(text)});
  }

  void read_next(Batch& batch) {
    while (scan_.skip(',')) {
    }
    const char first = scan_.peek();
    const size_t at = scan_.at();
    if (first == ']' || first == '\0') {
      if (first == '\0') problem(at, "file-cut", "the list of rows does not end");
      done_ = true;
      return;
    }
    const auto extent = first == '{' ? scan_.value(kRowBytesMax) : std::nullopt;
    const auto row = extent ? json::parse(*extent) : std::nullopt;
    if (row) {
      read_row(*row, at, batch);
    } else {
      problem(at, "bad-row", "not a row; left out, up to the next thing that looks like one");
      rows_.gap("a row that cannot be read");
      resume(at);
    }
  }

  /// Behind what could not be read. What was looked through in vain is looked through again at most
  /// as often as the file is long, so that no file takes for ever.
  void resume(size_t at) {
    const size_t window = std::min(text_.size() - at, kRowBytesMax);
    wasted_ += window;
    const size_t from = wasted_ > text_.size() + kRowBytesMax ? at + window : at + 1;
    // A place that was found and not used is kept, so that the text is searched once.
    if (next_id_ < from) next_id_ = text_.find("{\"id\"", from);
    if (next_line_ < from) next_line_ = text_.find("\n{", from);
    scan_.set_at(std::min({next_id_, next_line_, text_.size()}));
  }

  void read_row(const Json& json, size_t at, Batch& batch) {
    const Json* ip = json::member(json, "ip");
    const auto pc = ip ? json::unsigned_number(*ip) : std::nullopt;
    if (!pc) {
      problem(at, "bad-row", "the row has no address (\"ip\"); left out");
      rows_.gap("a row without an address");
      return;
    }
    row_.clear();
    row_.pc = *pc;
    row_.seq = next_seq_;
    const Json* thread = json::member(json, "thread");
    if (thread && !json::unsigned_number(*thread)) rows_.forget();  // it may be anybody's
    row_.tid = number(json, "thread", 0, at);
    const uint64_t seq = number(json, "seq", number(json, "id", next_seq_, at), at);
    if (seq >= next_seq_ && seq != UINT64_MAX) row_.seq = seq;
    next_seq_ = row_.seq + 1;
    read_bytes(json, at);
    if (const Json* registers = json::member(json, "regs")) read_registers(*registers, at);
    if (const Json* memory = json::member(json, "mem")) read_memory(*memory, at);
    rows_.add(row_, batch);
  }

  uint64_t number(const Json& row, const char* key, uint64_t otherwise, size_t at) {
    const Json* value = json::member(row, key);
    if (!value) return otherwise;
    const auto number = json::unsigned_number(*value);
    if (!number) problem(at, "bad-value", fmt::format("\"{}\" is no number; left out", key));
    return number.value_or(otherwise);
  }

  /// "opcodes", and "comment", which becomes a note.
  void read_bytes(const Json& row, size_t at) {
    if (const Json* opcodes = json::member(row, "opcodes")) {
      std::string digits = json::text(*opcodes).value_or("?");
      std::erase(digits, ' ');
      const auto bytes = from_hex(digits);
      if (bytes)
        row_.opcode = *bytes;
      else
        problem(at, "bad-value", "\"opcodes\" is not hexadecimal; left out");
    }
    if (const Json* comment = json::member(row, "comment"))
      row_.note = json::text(*comment).value_or("");
  }

  void read_registers(const Json& list, size_t at) {
    if (!list.is_array() || list.size() > columns_.size()) {
      problem(at, "bad-value", "\"regs\" does not fit the names of the registers");
      if (!list.is_array()) return rows_.forget();
    }
    const RegisterLayout& layout = catalog_.registers;
    const size_t count = std::min(list.size(), columns_.size());
    for (size_t i = 0; i < count; ++i) {
      const uint32_t index = columns_[i];
      if (index == TvtHeader::kNoRegister || index == layout.pc_index) continue;
      if (list[i].is_null()) {
        row_.values.push_back({index, ShownRow::Value::kUnknown});
        continue;
      }
      const auto value = json::unsigned_number(list[i]);
      const uint32_t size = layout.registers[index].size_bytes;
      if (!value || (size < 8 && *value >> (8 * size) != 0)) {
        problem(at, "bad-value", fmt::format("value {} of \"regs\" makes no sense; left out", i));
        row_.values.push_back({index, ShownRow::Value::kUnknown});
        continue;
      }
      const std::vector<uint8_t> bytes = bytes_of(*value, size);
      row_.values.push_back({index, row_.add_bytes(bytes)});
    }
  }

  static std::vector<uint8_t> bytes_of(uint64_t value, size_t size) {
    std::vector<uint8_t> bytes(size);
    store_uint(bytes.data(), value, std::min<size_t>(size, 8), Endian::Little);
    return bytes;
  }

  void read_memory(const Json& list, size_t at) {
    row_.incomplete = !list.is_array();
    if (row_.incomplete) return problem(at, "bad-value", "\"mem\" is no list; left out");
    for (const Json& item : list) {
      if (read_access(item)) continue;
      problem(at, "bad-value", "an access of \"mem\" makes no sense; left out");
      row_.incomplete = true;
    }
  }

  /// Without a size, an access is as wide as an address.
  bool read_access(const Json& item) {
    const Json* access = json::member(item, "access");
    const Json* address = json::member(item, "addr");
    const Json* content = json::member(item, "value");
    const Json* width = json::member(item, "size");
    if (!access || !address || !content) return false;
    std::string word = json::text(*access).value_or("");
    for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const auto where = json::unsigned_number(*address);
    const auto value = json::unsigned_number(*content);
    const auto size = width ? json::unsigned_number(*width) : catalog_.address_bytes;
    if ((word != "READ" && word != "WRITE") || !where || !value || !size || *size == 0 || *size > 8)
      return false;
    if (*size < 8 && *value >> (8 * *size) != 0) return false;
    row_.pieces.push_back({word == "READ" ? Kind::Read : Kind::Write, *where,
                           row_.add_bytes(bytes_of(*value, *size)), static_cast<uint32_t>(*size)});
    return true;
  }

  std::shared_ptr<InputFile> file_;
  std::string_view text_;
  JsonScan scan_;
  size_t forgotten_;
  ProblemLog& problems_;
  Catalog catalog_;
  std::vector<uint32_t> columns_;
  ShownRows rows_;
  ShownRow row_;  // being read
  uint64_t next_seq_ = 0;
  uint64_t wasted_ = 0;
  size_t next_id_ = 0, next_line_ = 0;
  bool done_ = false;
};

}  // namespace

Result<std::unique_ptr<Source>> open_tvt(std::shared_ptr<InputFile> file, const OpenOptions&,
                                         ProblemLog& problems) {
  if (is_binary_tvt(file->bytes()))
    return Error{Errc::Unsupported,
                 "this is the viewer's binary form of .tvt (TVTR), which cannot be read; in the "
                 "viewer, save the trace under a name that ends in .json, and open that file",
                 {}};
  TW_ASSIGN_OR_RETURN(TvtHeader header, read_tvt_header(as_text(file->bytes()), problems));
  header.catalog.source_path = file->path();
  file->forget(0, file->bytes().size());  // the header's walk has touched all of it
  return std::unique_ptr<Source>(new TvtReader(std::move(file), std::move(header), problems));
}

}  // namespace tracewell::formats
