// What is odd: a unit's length says where the next one begins, its header's length where the code
// does, and both must be right; versions before 5 number files from 1 and keep their names here,
// version 5 numbers from 0 and says in the header itself how its tables are written.
#include "symbols/dwarf/line_program.h"

#include <optional>

#include "symbols/dwarf/leb128.h"
#include "symbols/elf/elf_file.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kFileNameMax = 4096;
constexpr size_t kNameWork = 16;  // bytes of a name that are as much work as a row

// DWARF 5, 7.22 and 7.5.6.
enum Standard : uint8_t {
  kCopy = 1, kAdvancePc, kAdvanceLine, kSetFile, kSetColumn, kNegateStatement, kBasicBlock,
  kConstAddPc, kFixedAdvancePc,
};
enum Extended : uint8_t { kEndSequence = 1, kSetAddress = 2 };
constexpr uint64_t kContentPath = 1;
enum Form : uint64_t {
  kBlock2 = 0x03, kBlock4 = 0x04, kData2 = 0x05, kData4 = 0x06, kData8 = 0x07, kString = 0x08,
  kBlock = 0x09, kBlock1 = 0x0a, kData1 = 0x0b, kStrp = 0x0e, kUdata = 0x0f, kData16 = 0x1e,
  kLineStrp = 0x1f,
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Decodes the header of one unit; `in` has the rest of the unit, behind the version.
class HeaderReader {
 public:
  HeaderReader(ByteReader in, uint64_t version, size_t offset_bytes, const LineSections& sections,
               Work& work)
      : in_(in), version_(version), offset_bytes_(offset_bytes), sections_(sections), work_(work) {}

  bool read(LineProgram& program) {
    program.endian = sections_.endian;
    program.address_bytes = sections_.address_bytes;
    program.first_file = version_ >= 5 ? 0 : 1;
    // Version 5 says here how long addresses are; each that is set says it by its own length, too.
    if (version_ >= 5 && !in_.take(2)) return false;
    const auto header_bytes = in_.uint(offset_bytes_);
    if (!header_bytes || *header_bytes > in_.left()) return false;
    ByteReader behind = in_;
    const Bytes header = *behind.take(*header_bytes);
    program.code = *behind.take(behind.left());
    in_ = ByteReader(header, sections_.endian);
    return numbers(program) && (version_ >= 5 ? tables(program) : old_tables(program));
  }

 private:
  bool numbers(LineProgram& program) {
    const auto instruction_bytes = in_.uint(1);
    // Machines that pack several operations into an instruction are not for us.
    const auto operations = version_ >= 4 ? in_.uint(1) : 1;
    const auto is_statement = in_.uint(1);
    const auto line_base = in_.uint(1);
    const auto line_range = in_.uint(1);
    const auto opcode_base = in_.uint(1);
    if (!is_statement || !opcode_base || *operations > 1 || *line_range == 0 || *opcode_base == 0)
      return false;
    const auto counts = in_.take(*opcode_base - 1);
    if (!counts) return false;
    program.instruction_bytes = static_cast<uint8_t>(*instruction_bytes);
    program.line_base = static_cast<int8_t>(*line_base);
    program.line_range = static_cast<uint8_t>(*line_range);
    program.opcode_base = static_cast<uint8_t>(*opcode_base);
    program.operand_counts = *counts;
    return true;
  }

  std::optional<std::string_view> text() {
    const Bytes rest = *ByteReader(in_).take(in_.left());
    const auto found = text_at(rest, 0, kFileNameMax);
    if (!found || !in_.take(found->size() + 1) || !work_.take()) return std::nullopt;
    return found;
  }

  /// Folders, then files with three numbers each; an empty name ends either.
  bool old_tables(LineProgram& program) {
    while (true) {
      const auto folder = text();
      if (!folder) return false;
      if (folder->empty()) break;
    }
    while (true) {
      const auto name = text();
      if (!name) return false;
      if (name->empty()) return true;
      program.files.push_back(base_name(*name));
      for (int i = 0; i < 3; ++i)
        if (!leb128(in_)) return false;
    }
  }

  bool tables(LineProgram& program) {
    std::vector<std::string_view> folders;
    return table(folders) && table(program.files);
  }

  bool table(std::vector<std::string_view>& names) {
    struct Column {
      uint64_t content, form;
    };
    std::vector<Column> columns;
    const auto column_count = in_.uint(1);
    if (!column_count) return false;
    for (uint64_t i = 0; i < *column_count; ++i) {
      const auto content = leb128(in_);
      const auto form = leb128(in_);
      if (!content || !form) return false;
      columns.push_back({*content, *form});
    }
    const auto count = leb128(in_);
    if (!count) return false;
    if (columns.empty()) return true;
    // Each row takes bytes, so this ends with the header if not before.
    for (uint64_t i = 0; i < *count; ++i) {
      std::string_view name;
      for (const Column& column : columns)
        if (!value(column.form, column.content == kContentPath ? &name : nullptr)) return false;
      names.push_back(name);
    }
    return true;
  }

  /// Skips one value, and takes it if it is the `name`.
  bool value(uint64_t form, std::string_view* name) {
    switch (form) {
      case kString: {
        const auto found = text();
        if (found && name != nullptr) *name = base_name(*found);
        return found.has_value();
      }
      case kStrp:
      case kLineStrp: {
        const auto offset = in_.uint(offset_bytes_);
        if (!offset) return false;
        const Bytes texts = form == kStrp ? sections_.texts : sections_.line_texts;
        if (name == nullptr) return true;
        // Four bytes here name some thousand elsewhere, and so do the next four.
        const auto found = text_at(texts, *offset, kFileNameMax);
        *name = base_name(found.value_or(""));
        return work_.take(1 + (found ? found->size() : kFileNameMax) / kNameWork);
      }
      case kUdata:
        return leb128(in_).has_value();
      case kBlock:
        return block(leb128(in_));
      case kBlock1:
        return block(in_.uint(1));
      case kBlock2:
        return block(in_.uint(2));
      case kBlock4:
        return block(in_.uint(4));
      case kData1:
        return block(1);
      case kData2:
        return block(2);
      case kData4:
        return block(4);
      case kData8:
        return block(8);
      case kData16:
        return block(16);
      default:
        return false;
    }
  }

  bool block(std::optional<uint64_t> size) { return size && in_.take(*size); }

  ByteReader in_;
  uint64_t version_;
  size_t offset_bytes_;
  const LineSections& sections_;
  Work& work_;
};

}  // namespace

bool read_line_program(ByteReader& in, const LineSections& sections, LineProgram& program,
                       Work& work) {
  program = {};
  if (!work.take()) return false;
  size_t offset_bytes = 4;
  auto length = in.uint(4);
  if (length && *length == UINT32_MAX) {
    offset_bytes = 8;
    length = in.uint(8);
  }
  const auto unit = length ? in.take(*length) : std::nullopt;
  if (!unit) return false;
  ByteReader reader(*unit, sections.endian);
  const auto version = reader.uint(2);
  if (!version || *version < 2 || *version > 5) return true;
  LineProgram found;
  if (HeaderReader(reader, *version, offset_bytes, sections, work).read(found)) program = found;
  return true;
}

void LineProgram::advance(LineState& state, uint64_t instructions) const {
  state.address += instructions * instruction_bytes;
  if (address_bytes == 4) state.address &= UINT32_MAX;
}

LineProgram::Outcome LineProgram::step(LineState& state) const {
  ByteReader in(code, endian);
  if (!in.take(state.next)) return Outcome::Over;
  const size_t start = in.offset();
  while (in.offset() - start < kRowBytesMax) {
    const auto opcode = in.uint(1);
    if (!opcode) return Outcome::Over;
    bool row = false;
    bool end = false;
    if (*opcode >= opcode_base) {
      const auto special = static_cast<uint32_t>(*opcode) - opcode_base;
      advance(state, special / line_range);
      state.line += static_cast<uint32_t>(line_base + static_cast<int>(special % line_range));
      row = true;
    } else if (*opcode == 0) {
      if (!extended(in, state, end)) return Outcome::Over;
    } else {
      if (!standard(static_cast<uint8_t>(*opcode), in, state)) return Outcome::Over;
      row = *opcode == kCopy;
    }
    state.next = in.offset();
    if (end) return Outcome::EndOfSequence;
    if (row) return Outcome::Row;
  }
  return Outcome::Over;
}

bool LineProgram::extended(ByteReader& in, LineState& state, bool& end) const {
  const auto size = leb128(in);
  if (!size || *size == 0) return false;
  const auto operation = in.take(*size);
  if (!operation) return false;
  const uint8_t opcode = operation->front();
  const Bytes operand = operation->subspan(1);
  end = opcode == kEndSequence;
  if (opcode != kSetAddress) return true;  // what it does changes no address, file or line
  if (operand.empty() || operand.size() > 8) return false;
  state.address = load_uint(operand.data(), operand.size(), endian);
  return true;
}

bool LineProgram::standard(uint8_t opcode, ByteReader& in, LineState& state) const {
  switch (opcode) {
    case kCopy:
      return true;
    case kAdvancePc: {
      const auto by = leb128(in);
      advance(state, by.value_or(0));
      return by.has_value();
    }
    case kAdvanceLine: {
      const auto by = leb128(in, true);
      state.line += static_cast<uint32_t>(by.value_or(0));
      return by.has_value();
    }
    case kSetFile: {
      const auto file = leb128(in);
      state.file = static_cast<uint32_t>(file.value_or(0));
      return file.has_value();
    }
    case kConstAddPc:
      advance(state, (255u - opcode_base) / line_range);
      return true;
    case kFixedAdvancePc: {
      const auto by = in.uint(2);
      state.address += by.value_or(0);
      return by.has_value();
    }
    default:
      for (int i = 0; i < operand_counts[opcode - 1]; ++i)
        if (!leb128(in)) return false;
      return true;
  }
}

}  // namespace tracewell::symbols
