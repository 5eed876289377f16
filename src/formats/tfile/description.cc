// What GDB 13 does with these lines, where the manual is silent or wrong: `R` is hexadecimal (the
// manual says decimal); a line that it does not know is warned about and skipped; one of more than
// 999 characters, or a missing `R`, makes it refuse the file.
#include "formats/tfile/description.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/message.h"
#include "base/text/text.h"
#include "formats/tfile/as_gdb.h"
#include "machine/architecture.h"
#include "machine/tdesc.h"
#include "rsp/definitions.h"
#include "rsp/status.h"

namespace tracewell::formats {
namespace {

constexpr size_t kUnknownLinesKept = 1000;
using Severity = Problem::Severity;

class DescriptionReader {
 public:
  DescriptionReader(uint64_t offset, ProblemLog& problems) : offset_(offset), problems_(problems) {}

  TfileDescription read(std::string_view text) {
    while (!text.empty()) {
      const size_t length = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, length));
      const size_t taken = std::min(length + 1, text.size());
      text.remove_prefix(taken);
      offset_ += taken;
    }
    out_.catalog.tracepoints = tracepoints_.take();
    for (const auto& [key, whole] : defined_)
      if (!whole) {
        out_.gdb_reads = false;
        complain(Severity::Warning, "gdb-tracepoint",
                 fmt::format("nothing defines tracepoint {} at {:#x}, of which there is more; GDB "
                             "ends with an internal error",
                             key.first, key.second));
      }
    read_target_description();
    decide_block_size();
    return std::move(out_);
  }

 private:
  void complain(Severity severity, std::string code, std::string text) {
    problems_.add({offset_, severity, std::move(code), std::move(text)});
  }

  void keep_line(std::string_view line) {
    if (unknown_lines_++ < kUnknownLinesKept)
      out_.catalog.extras.emplace_back(kTfileLine, std::string(line));
  }

  void read_line(std::string_view line) {
    if (line.size() > kTfileLineMax) {
      out_.gdb_reads = false;
      complain(
          Severity::Warning, "long-line",
          fmt::format("a line of {} characters; GDB does not open a file with one of more than "
                      "{}",
                      line.size(), kTfileLineMax));
    }
    std::string_view rest = line;
    std::string_view word = take_until(rest, ' ');
    if (word.size() == line.size()) word = "";  // a word that its blank does not end is none
    if (word != "tdesc" && printable_length(line) != line.size()) out_.is_plain = false;
    if (word == "R") return read_block_size(rest);
    if (word == "status") return read_status(line, rest);
    if (word == "tp") return read_tracepoint(line, rest);
    if (word == "tsv") return read_variable(line, rest);
    if (word == "tdesc") {
      if (out_.catalog.target_description.empty()) tdesc_offset_ = offset_;
      out_.catalog.target_description += rest;
      out_.catalog.target_description += '\n';
      return;
    }
    complain(Severity::Note, "unknown-line",
             fmt::format("a line that begins with \"{}\" is not known; kept as it is",
                         printable(line.substr(0, 40))));
    if (!is_line_that_gdb_only_shows(line)) out_.is_plain = false;
    keep_line(line);
  }

  /// The last one counts, as for GDB.
  void read_block_size(std::string_view text) {
    if (block_size_)
      complain(Severity::Warning, "second-R",
               "a second size of the register block; it counts, not the one before");
    const BlockSize read = block_size_as_gdb(text);
    if (block_size_ || !parse_hex(text)) out_.is_plain = false;
    block_size_ = read.bytes;
    block_size_text_ = read.digits;
    out_.block_size_offset = offset_;
    if (read.bytes == 0 && !read.digits.empty())
      complain(Severity::Note, "no-registers",
               "the register block has no bytes; GDB does not open such a file");
    else if (read.bytes == 0)
      complain(Severity::Damage, "bad-R",
               fmt::format("\"{}\" as the size of the register block is no number that fits "
                           "31 bits; GDB does not open such a file",
                           printable(text.substr(0, 40))));
    else if (!parse_hex(text))
      complain(Severity::Note, "odd-R",
               fmt::format("GDB takes \"{}\" for {:#x}", printable(text.substr(0, 40)),
                           read.bytes));
  }

  /// The last one counts, as for GDB.
  void read_status(std::string_view line, std::string_view text) {
    if (out_.catalog.status)
      complain(Severity::Warning, "second-status",
               "a second status; it counts, not the one before");
    if (out_.catalog.status || !is_plain_status(text)) out_.is_plain = false;
    if (const auto fault = status_fault_as_gdb(text)) {
      out_.gdb_reads = false;
      complain(Severity::Warning, "gdb-status",
               fmt::format("GDB gives up at the status ({}), and knows of no definitions then",
                           *fault));
    }
    std::vector<std::string> unknown;
    auto status = rsp::parse_status(text, &unknown);
    for (const std::string& field : unknown)
      if (!is_status_field(std::string_view(field).substr(0, field.find(':'))))
        complain(Severity::Note, "status-field",
                 fmt::format("a field of the status is not known: \"{}\"",
                             printable(field.substr(0, 40))));
    if (status.ok()) {
      out_.catalog.status = *std::move(status);
      return;
    }
    complain(Severity::Warning, "bad-status", status.error().message);
    out_.gdb_reads = false;
    keep_line(line);
  }

  /// TYPE:START:LENGTH:HEX
  static bool is_whole_source(std::string_view body) {
    const size_t hex = body.rfind(':');
    if (hex == std::string_view::npos || hex == 0) return false;
    const size_t length = body.rfind(':', hex - 1);
    if (length == std::string_view::npos || !body.substr(0, length).ends_with(":0")) return false;
    const auto stated = parse_hex(body.substr(length + 1, hex - length - 1));
    return stated && *stated * 2 == body.size() - hex - 1;
  }

  void read_tracepoint(std::string_view line, std::string_view text) {
    std::string leftover;
    const Status status = tracepoints_.apply(text, &leftover);
    if (const auto piece = rsp::parse_piece(text); piece.ok() && status.ok()) {
      const bool whole = piece->kind == rsp::Piece::Kind::Definition;
      defined_[{piece->number, piece->address}] |= whole;
      // Each is a line of its own to GDB: what the text is as a whole says nothing of that.
      if (piece->kind == rsp::Piece::Kind::Source && !is_whole_source(piece->body))
        out_.gdb_reads = false;
    }
    if (!status.ok()) {
      complain(Severity::Warning, "bad-tracepoint", status.error().message);
      out_.gdb_reads = false;
      keep_line(line);
    } else if (!leftover.empty()) {
      out_.is_plain = false;
      complain(
          Severity::Warning, "tracepoint-option",
          fmt::format("a tracepoint has an option that is not known: \"{}\"", printable(leftover)));
    }
  }

  void read_variable(std::string_view line, std::string_view text) {
    auto variable = rsp::parse_variable(text);
    if (!variable.ok()) {
      complain(Severity::Warning, "bad-variable", variable.error().message);
      out_.gdb_reads = false;
      keep_line(line);
      return;
    }
    // "A single variable may take multiple lines": the last one holds.
    const auto [at, fresh] =
        variables_.try_emplace(variable->number, out_.catalog.variables.size());
    if (fresh) {
      out_.catalog.variables.push_back(*std::move(variable));
    } else {
      out_.is_plain = false;  // GDB knows both by their names
      out_.catalog.variables[at->second] = *std::move(variable);
    }
  }

  void read_target_description() {
    Catalog& catalog = out_.catalog;
    if (catalog.target_description.empty()) return;
    auto target = machine::parse_tdesc(catalog.target_description, problems_, tdesc_offset_);
    described_bytes_ = target.described_bytes;
    catalog.machine = target.machine;
    catalog.address_bytes = target.address_bytes;
    catalog.endian = target.endian;
    catalog.registers = std::move(target.registers);
    out_.endian_known = target.machine != "unknown" && !target.either_endian;
  }

  void decide_block_size() {
    const uint32_t described = described_bytes_;
    if (!block_size_)
      complain(Severity::Warning, "no-R",
               "the size of the register block is not given; GDB does not open such a file");
    if (!block_size_ || (*block_size_ == 0 && block_size_text_.empty())) {
      out_.register_block_bytes = {described};
      out_.gdb_reads = false;
      return;
    }
    out_.register_block_bytes = {*block_size_};
    if (described == *block_size_) return;
    uint32_t decimal = 0;
    const char* end = block_size_text_.data() + block_size_text_.size();
    const auto [at, error] = std::from_chars(block_size_text_.data(), end, decimal);
    const bool is_decimal = error == std::errc() && at == end && decimal != *block_size_;
    if (is_decimal && described == decimal) {
      out_.register_block_bytes = {decimal};
      out_.gdb_reads = false;
      problems_.add({out_.block_size_offset, Severity::Warning, "decimal-R",
                     "the size of the register block is decimal; GDB will take it for hex"});
      return;
    }
    if (is_decimal) out_.register_block_bytes.push_back(decimal);
    if (described != 0)
      problems_.add({out_.block_size_offset, Severity::Warning, "block-size",
                     fmt::format("the register block has {} bytes but the target description makes "
                                 "it {}",
                                 *block_size_, described)});
  }

  uint64_t offset_;
  ProblemLog& problems_;
  TfileDescription out_;
  rsp::DefinitionBuilder tracepoints_;
  std::map<std::pair<uint32_t, uint64_t>, bool> defined_;  // number, address -> by a T
  std::unordered_map<uint32_t, size_t> variables_;  // number -> place in the catalog
  std::optional<uint32_t> block_size_;
  std::string_view block_size_text_;
  uint64_t tdesc_offset_ = 0;
  uint32_t described_bytes_ = 0;
  size_t unknown_lines_ = 0;
};

}  // namespace

TfileDescription read_tfile_description(std::string_view text, uint64_t offset,
                                        ProblemLog& problems) {
  return DescriptionReader(offset, problems).read(text);
}

void settle_tfile_layout(TfileDescription& description, Endian endian,
                         uint32_t register_block_bytes) {
  Catalog& catalog = description.catalog;
  RegisterLayout& layout = catalog.registers;
  catalog.endian = endian;
  description.register_block_bytes = {register_block_bytes};
  register_block_bytes = std::min(register_block_bytes, machine::kRegisterBlockBytesMax);
  if (layout.empty() && endian == Endian::Little) {
    layout = machine::default_layout(register_block_bytes, catalog.machine);
    if (const auto* known = machine::find_machine(catalog.machine)) {
      catalog.address_bytes = known->address_bytes;
      if (!layout.empty()) description.endian_known = !known->either_endian;
    }
  }
  // GDB leaves registers beyond a block that is too short as not collected.
  while (!layout.registers.empty() &&
         uint64_t{layout.registers.back().offset} + layout.registers.back().size_bytes >
             register_block_bytes)
    layout.registers.pop_back();
  if (layout.pc_index >= layout.registers.size()) layout.pc_index.reset();
  if (layout.sp_index >= layout.registers.size()) layout.sp_index.reset();
  layout.size_bytes = register_block_bytes;
}

void tell_cut_block(uint64_t offset, uint32_t register_block_bytes, ProblemLog& problems) {
  if (register_block_bytes <= machine::kRegisterBlockBytesMax) return;
  problems.add({offset, Severity::Warning, "block-size",
                fmt::format("the register block has {} bytes; those behind the first {} are left "
                            "out",
                            register_block_bytes, machine::kRegisterBlockBytesMax)});
}

}  // namespace tracewell::formats
