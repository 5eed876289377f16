#include "symbols/dwarf/line_table.h"

#include <utility>

namespace tracewell::symbols {

using Outcome = LineProgram::Outcome;

void LineTable::read(const LineSections& sections, const RangeIndex& code, Work& work) {
  // Units of nothing, one after the other: linkers pad with a few, and a hole has no end of them.
  constexpr size_t kEmptyMax = 1024, kEmptyBytes = 4;
  ByteReader in(sections.line, sections.endian);
  LineProgram program;
  size_t begin = 0, empty = 0;
  while (empty < kEmptyMax && read_line_program(in, sections, program, work)) {
    empty = in.offset() - std::exchange(begin, in.offset()) == kEmptyBytes ? empty + 1 : 0;
    const size_t before = parts_.size();
    programs_.push_back(std::move(program));
    run(static_cast<uint32_t>(programs_.size() - 1), code, work);
    if (parts_.size() == before) programs_.pop_back();
  }
  index_.build(work.stop());
}

/// Cuts the program's sequences into parts. Addresses only grow inside of a sequence (DWARF 5,
/// 6.2.5); one where they do not is left alone from there on.
void LineTable::run(uint32_t number, const RangeIndex& code, Work& work) {
  const LineProgram& program = programs_[number];
  LineState state;
  std::optional<Part> part;  // the one that is under way
  size_t rows = 0;           // in it
  uint64_t last = 0;
  bool begins = true;
  size_t before = 0;  // where the row begins that is under way
  while (work.take(1 + (state.next - std::exchange(before, state.next)) / kRowWork)) {
    const Outcome outcome = program.step(state);
    if (outcome == Outcome::Over) return;
    if (begins && code.find(state.address)) part = Part{number, state};
    if (!begins && state.address < last) part.reset();
    last = state.address;
    begins = outcome == Outcome::EndOfSequence;
    if (begins) {
      if (part) add_part(*part, state.address);
      part.reset();
      rows = 0;
      const size_t next = state.next;
      state = {};
      state.next = next;
    } else if (part && (++rows > kRowsPerPart || state.next - part->state.next > kBytesPerPart)) {
      add_part(*part, state.address);
      part = Part{number, state};
      rows = 1;
    }
  }
}

void LineTable::add_part(const Part& part, uint64_t end) {
  if (part.state.address >= end) return;
  index_.add(part.state.address, end, static_cast<uint32_t>(parts_.size()));
  parts_.push_back(part);
}

/// The last row at or before the address.
std::optional<LineTable::Found> LineTable::find(uint64_t address) const {
  const auto number = index_.find(address);
  if (!number) return std::nullopt;
  const LineProgram& program = programs_[parts_[*number].program];
  LineState row = parts_[*number].state;
  LineState state = row;
  while (program.step(state) == Outcome::Row && state.address <= address) row = state;
  const uint32_t file = row.file - program.first_file;
  if (row.line == 0 || file >= program.files.size()) return std::nullopt;
  if (program.files[file].empty()) return std::nullopt;
  return Found{program.files[file], row.line};
}

}  // namespace tracewell::symbols
