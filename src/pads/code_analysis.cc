#include "pads/code_analysis.h"

#include <algorithm>
#include <iterator>

namespace tracewell::pads {
namespace {

using machine::CodeInstruction;
using Flow = CodeInstruction::Flow;
using Through = CodeInstruction::Through;

/// A jump through a register belongs to a table when its entry was loaded so many instructions
/// ahead; compilers put an addition in between, and what else there is to do.
constexpr size_t kTableLoadWindow = 16;
constexpr size_t kTableEntriesMax = 1 << 16;
/// Of all tables together, which may lie one over the other, and of places that name one.
constexpr uint64_t kEntriesMax = uint64_t{1} << 26;
constexpr size_t kNamesMax = size_t{1} << 24;
/// Code that reads a constant among the code: how far it may reach.
constexpr uint64_t kConstantBytes = 64;

}  // namespace

const char* CodeAnalysis::run() {
  look_at_all();
  return why_;
}

void CodeAnalysis::look_at_all() {
  take_functions();
  uint64_t end = code_.range().start;
  for (current_ = 0; current_ < functions_.size(); ++current_) {
    Function& function = functions_[current_];
    sweep_gap({end, function.range.start});
    sweep(function);
    end = function.range.end;
    if (left_off()) return;
  }
  sweep_gap({end, code_.range().end});
  for (const uint64_t entry : input_.entries) mark(entry, Code::kEntered);
  for (const Range& kept : input_.kept) mark(kept, Code::kKept);
  for (const uint64_t end : input_.kept_ends) keep_ahead_of(end);
  read_tables();
  read_data();
  for (const Function& function : functions_) {
    const bool unclear = function.strange_jumps ||
                         (function.register_jumps &&
                          (!function.has_table || function.names_own_inside));
    if (unclear) enter_all_of(function);
    if (left_off()) return;
  }
  end = code_.range().start;
  for (const Function& function : functions_) {
    find_padding({end, function.range.start}, true);
    find_padding(function.range, false);
    end = function.range.end;
    if (left_off()) return;
  }
  find_padding({end, code_.range().end}, true);
}

/// Asked for each instruction, or for what takes as long.
bool CodeAnalysis::left_off(uint64_t work) {
  constexpr uint64_t kUnaskedMax = 1 << 16;
  unasked_ += work;
  if (unasked_ < kUnaskedMax || why_ != nullptr) return why_ != nullptr;
  unasked_ = 0;
  if (input_.stop && input_.stop()) why_ = "nobody waits for what is found out of the code";
  return why_ != nullptr;
}

/// How many bytes of zeros it begins with.
uint64_t CodeAnalysis::zeros_in(Range range) const {
  constexpr uint64_t kPage = ZeroedBytes::kPage;
  const uint64_t base = code_.range().start;
  uint64_t at = range.start;
  while (at < range.end) {
    if (code_.is_empty(at)) at += kPage - (at - base) % kPage;
    else if (code_.bytes_[at - base] == 0) ++at;
    else break;
  }
  return std::min(at, range.end) - range.start;
}

/// Where a function ends at the latest that has this range: none has a page of zeros inside.
uint64_t CodeAnalysis::cut(Range range) const {
  constexpr uint64_t kPage = ZeroedBytes::kPage;
  const uint64_t base = code_.range().start;
  for (uint64_t at = base + (range.start - base) / kPage * kPage; at < range.end; at += kPage)
    if (code_.is_empty(at)) return std::max(at, range.start);
  return range.end;
}

void CodeAnalysis::take_functions() {
  std::vector<Range> ranges;
  const Range all = code_.range();
  for (Range range : input_.functions) {
    range.start = std::max(range.start, all.start);
    range.end = std::min(range.end, all.end);
    if (range.start < range.end) ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  for (const Range& range : ranges) {
    mark(range.start, Code::kEntered);
    if (functions_.empty() || range.start >= functions_.back().range.end)
      functions_.push_back({range});
    else
      functions_.back().range.end = std::max(functions_.back().range.end, range.end);
    if (left_off()) return;
  }
  for (Function& function : functions_) function.range.end = cut(function.range);
}

/// The instruction that ends there. Where none is known its last byte will do, for what somebody
/// assumes there later has that.
void CodeAnalysis::keep_ahead_of(uint64_t end) {
  constexpr uint64_t kLongest = 15;
  const uint64_t room = std::min(kLongest, end - code_.range().start);
  uint64_t bytes = std::min<uint64_t>(1, room);
  for (uint64_t back = 1; back <= room; ++back)
    if (code_.length(end - back) == back) bytes = back;
  mark(Range{end - bytes, end}, Code::kKept);
}

/// From its start to its end, one instruction behind the other. What is no instruction, or reaches
/// over the end, makes the whole function one that is not understood.
void CodeAnalysis::sweep(Function& function) {
  since_table_load_ = SIZE_MAX;
  uint64_t pc = function.range.start;
  while (pc < function.range.end) {
    const CodeInstruction one = decode(pc);
    if (one.length == 0 || pc + one.length > function.range.end) {
      function.understood = false;
      ++pc;
      continue;
    }
    if (function.understood) mark(pc, Code::kStart);
    note(one, pc, &function);
    pc += one.length;
    if (left_off()) return;
  }
  if (function.understood) return;
  mark(function.range, Code::kKept);
  for (uint64_t at = function.range.start; at < function.range.end; ++at)
    code_.flags_[at - code_.address_] &= static_cast<uint8_t>(~Code::kStart);
}

/// Code without a name may branch into functions, too. Where it is data, this marks some places
/// for nothing. Zeros are instructions of two bytes that lead nowhere, and there may be many.
void CodeAnalysis::sweep_gap(Range gap) {
  uint64_t pc = gap.start;
  while (pc < gap.end && !left_off()) {
    const uint64_t zeros = code_.is_empty(pc) ? zeros_in({pc, gap.end}) / 2 * 2 : 0;
    if (zeros != 0) {
      pc += zeros;
      continue;
    }
    const CodeInstruction one = decode(pc);
    if (one.length != 0) note(one, pc, nullptr);
    pc += std::max<uint64_t>(one.length, 1);
  }
}

void CodeAnalysis::note(const CodeInstruction& one, uint64_t pc, Function* function) {
  if (one.target) mark(*one.target, Code::kEntered);
  if (one.flow == Flow::Call || one.flow == Flow::System) mark(pc + one.length, Code::kEntered);
  if (one.endbr) mark(pc, Code::kEntered);
  if (one.named) {
    mark(*one.named, Code::kEntered);
    if (named_.size() + slot_jumps_.size() > kNamesMax)
      why_ = "it names more addresses than code does";
    if (one.address_of)
      named_.push_back({*one.named, function != nullptr ? current_ : SIZE_MAX});
    else
      mark(Range{*one.named, *one.named + kConstantBytes}, Code::kKept);
  }
  if (function == nullptr) return;
  if (one.named && one.address_of && function->range.holds(*one.named) &&
      *one.named != function->range.start)
    function->names_own_inside = true;
  if (since_table_load_ != SIZE_MAX) ++since_table_load_;
  if (one.table_load) since_table_load_ = 0;
  if (one.flow == Flow::Jump) note_jump(one, *function);
}

void CodeAnalysis::note_jump(const CodeInstruction& one, Function& function) {
  switch (one.through) {
    case Through::Displacement:
    case Through::Pointer:
      return;
    case Through::Register:
      function.register_jumps = true;
      if (since_table_load_ > kTableLoadWindow) function.strange_jumps = true;
      return;
    case Through::Table:
      slot_jumps_.push_back({one.table, current_});
      return;
    case Through::Memory:
      function.strange_jumps = true;
      return;
  }
}

void CodeAnalysis::read_tables() {
  for (const Named& named : named_) {
    const size_t entries = read_distances(named.address);
    read_addresses(named.address);
    if (entries != 0 && named.function != SIZE_MAX) functions_[named.function].has_table = true;
    if (left_off()) return;
  }
  for (const SlotJump& jump : slot_jumps_) {
    if (read_addresses(jump.table) == 0) functions_[jump.function].strange_jumps = true;
    if (left_off()) return;
  }
}

size_t CodeAnalysis::read_distances(uint64_t table) {
  for (size_t i = 0; i < kTableEntriesMax && !is_last_entry(); ++i) {
    const auto distance = load(table + 4 * i, 4);
    if (!distance) return i;
    const uint64_t target = table + static_cast<uint64_t>(
                                        int64_t{static_cast<int32_t>(*distance)});
    if (!is_start(target)) return i;
    mark(target, Code::kEntered);
  }
  return kTableEntriesMax;
}

size_t CodeAnalysis::read_addresses(uint64_t table) {
  for (size_t i = 0; i < kTableEntriesMax && !is_last_entry(); ++i) {
    const auto target = load(table + 8 * i, 8);
    if (!target || !is_start(*target)) return i;
    mark(*target, Code::kEntered);
  }
  return kTableEntriesMax;
}

/// Pointers to code: those to functions do no harm, those to labels count.
void CodeAnalysis::read_data() {
  const Range all = code_.range();
  for (const Area& area : input_.data) {
    size_t at = static_cast<size_t>(-area.address & 7);
    for (; at + 8 <= area.bytes.size(); at += 8) {
      const uint64_t word = load_uint(area.bytes.data() + at, 8, Endian::Little);
      if (all.holds(word)) mark(word, Code::kEntered);
      if (left_off()) return;
    }
  }
}

void CodeAnalysis::enter_all_of(const Function& function) {
  for (uint64_t at = function.range.start; at < function.range.end && !left_off(); ++at)
    if (is_start(at)) mark(at, Code::kEntered);
}

/// `dead`: nothing leads to the range's start. Behind an instruction that goes elsewhere, nops up
/// to the next place that is entered are padding; what follows them must be such a place.
void CodeAnalysis::find_padding(Range range, bool dead) {
  if (dead) {
    for (uint64_t pc = range.start; pc < range.end;) {
      const CodeInstruction one = decode(pc);
      if ((!one.nop && !one.int3) || pc + one.length > range.end) return;
      pc += one.length;
    }
  } else if (!is_start(range.start)) {
    return;  // not understood
  }
  for (uint64_t pc = range.start; pc < range.end && !left_off();) {
    const CodeInstruction one = decode(pc);
    if (code_.entered(pc)) dead = false;
    if (dead && (one.nop || one.int3)) {
      mark(Range{pc, pc + one.length}, Code::kPadding);
    } else if (dead) {
      mark(pc, Code::kEntered);
      dead = false;
    }
    dead = dead || one.ends();
    pc += one.length;
  }
}

/// More than there can be is what somebody has made up.
bool CodeAnalysis::is_last_entry() {
  if (++entries_ > kEntriesMax) why_ = "its tables have more entries than any code";
  return left_off();
}

std::optional<uint64_t> CodeAnalysis::load(uint64_t address, size_t size) const {
  const auto from = [&](const Area& area) -> std::optional<uint64_t> {
    if (address < area.address || area.bytes.size() < size ||
        address - area.address > area.bytes.size() - size)
      return std::nullopt;
    return load_uint(area.bytes.data() + (address - area.address), size, Endian::Little);
  };
  const auto next = std::ranges::upper_bound(data_, address, {}, &Area::address);
  if (next != data_.begin())
    if (const auto value = from(*std::prev(next))) return value;
  return from(input_.code);
}

void CodeAnalysis::mark(uint64_t address, uint8_t flag) {
  if (code_.range().holds(address) && !code_.is_empty(address))
    code_.flags_[address - code_.address_] |= flag;
}

void CodeAnalysis::mark(Range range, uint8_t flag) {
  const Range all = code_.range();
  range = {std::max(range.start, all.start), std::min(range.end, all.end)};
  for (uint64_t at = range.start; at < range.end; ++at) mark(at, flag);
}

}  // namespace tracewell::pads
