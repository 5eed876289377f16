#include "pads/code_analysis.h"

#include <algorithm>
#include <iterator>

namespace tracewell::pads {
namespace {

using machine::CodeInstruction;
using Function = Sweep::Function;

constexpr size_t kTableEntriesMax = 1 << 16;
/// Of all tables together, which may lie one over the other.
constexpr uint64_t kEntriesMax = uint64_t{1} << 26;
/// Two bytes for each are kept then, and one is in use.
constexpr size_t kKeptMax = size_t{64} << 20;

}  // namespace

/// Here, since code that is not analysed is none: code.h needs no more than what it tells.
Code::Code(const CodeInput& input) : sweep_(input.known.sweep) {
  if (sweep_ == nullptr || !sweep_->is_of(input.code, input.functions)) {
    const auto sweep = std::make_shared<Sweep>(input.code, input.functions, input.stop);
    may_be_kept_ = sweep->why() == nullptr && input.code.bytes.size() <= kKeptMax;
    if (!may_be_kept_) flags_ = sweep->take_flags();
    sweep_ = sweep;
  }
  if (may_be_kept_) {
    flags_ = ZeroedBytes(sweep_->flags().size());
    flags_.put(0, sweep_->flags());
  }
  unknown_ = sweep_->why() != nullptr ? sweep_->why() : CodeAnalysis(input, *this).run();
}

const char* CodeAnalysis::run() {
  look_at_all();
  return why_;
}

void CodeAnalysis::look_at_all() {
  const std::vector<Function>& functions = sweep_.functions();
  for (const uint64_t entry : input_.entries) mark(entry, Code::kEntered);
  for (const Range& kept : input_.kept) mark(kept, Code::kKept);
  for (const uint64_t end : input_.kept_ends) keep_ahead_of(end);
  read_tables();
  read_data();
  for (size_t i = 0; i < functions.size(); ++i) {
    const bool unclear = functions[i].strange_jumps || strange_[i] ||
                         (functions[i].register_jumps &&
                          (!has_table_[i] || functions[i].names_own_inside));
    if (unclear) enter_all_of(functions[i]);
    if (left_off()) return;
  }
  take_padding();
}

/// As it was found before, if it follows from the same.
void CodeAnalysis::take_padding() {
  const auto& before = input_.known.padding;
  const Bytes known = code_.flags_.bytes();
  if (code_.sweep_ == input_.known.sweep && before != nullptr && before->follows_from(known)) {
    code_.padding_ = before;
    for (const auto& [range, flag] : before->marks()) mark(range, flag);
    return;
  }
  const auto padding = std::make_shared<Padding>(known);
  padding_ = padding.get();
  find_padding();
  if (why_ == nullptr) code_.padding_ = padding;
}

void CodeAnalysis::find_padding() {
  uint64_t end = code_.range().start;
  for (const Function& function : sweep_.functions()) {
    find_padding_ahead({end, function.range.start});
    if (function.understood) find_padding(function.range);
    end = function.range.end;
    if (left_off()) return;
  }
  find_padding_ahead({end, code_.range().end});
}

/// Asked for each thing that is looked at, or for what takes as long.
bool CodeAnalysis::left_off(uint64_t work) {
  constexpr uint64_t kUnaskedMax = 1 << 16;
  unasked_ += work;
  if (unasked_ < kUnaskedMax || why_ != nullptr) return why_ != nullptr;
  unasked_ = 0;
  if (input_.stop && input_.stop()) why_ = "nobody waits for what is found out of the code";
  return why_ != nullptr;
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

void CodeAnalysis::read_tables() {
  for (const Sweep::Named& named : sweep_.named()) {
    const size_t entries = read_distances(named.address);
    read_addresses(named.address);
    if (entries != 0 && named.function != SIZE_MAX) has_table_[named.function] = true;
    if (left_off()) return;
  }
  for (const Sweep::SlotJump& jump : sweep_.slot_jumps()) {
    if (read_addresses(jump.table) == 0) strange_[jump.function] = true;
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

/// Behind an instruction that goes elsewhere, nops up to the next place that is entered are
/// padding; what follows them must be such a place. All else is passed over.
void CodeAnalysis::find_padding(Range range) {
  if (!is_start(range.start)) return;
  const uint64_t base = code_.range().start;
  const Bytes flags = code_.flags_.bytes();
  const auto next_with = [&](uint64_t at, uint8_t flag) {
    while (at < range.end && (flags[at - base] & flag) == 0) ++at;
    return at;
  };
  bool dead = false;
  for (uint64_t pc = range.start; pc < range.end && !left_off();) {
    if (!dead) pc = next_with(pc, Sweep::kEnds);
    if (pc == range.end) return;
    const uint64_t next = next_with(pc + 1, Sweep::kStart);
    const uint8_t known = flags[pc - base];
    dead = leads_nowhere({pc, next}, dead, (known & Sweep::kFiller) != 0,
                         (known & Sweep::kEnds) != 0);
    pc = next;
  }
}

/// What stands in front of a function, where nothing leads to its start.
void CodeAnalysis::find_padding_ahead(Range range) {
  for (uint64_t pc = range.start; pc < range.end;) {
    const CodeInstruction one = decode(pc);
    if ((!one.nop && !one.int3) || pc + one.length > range.end) return;
    pc += one.length;
  }
  bool dead = true;
  for (uint64_t pc = range.start; pc < range.end && !left_off();) {
    const CodeInstruction one = decode(pc);
    dead = leads_nowhere({pc, pc + one.length}, dead, true, one.ends());
    pc += one.length;
  }
}

/// Does nothing lead on behind this instruction, where nothing (`dead`) led to it by itself?
bool CodeAnalysis::leads_nowhere(Range instruction, bool dead, bool is_filler, bool ends) {
  if (code_.entered(instruction.start)) dead = false;
  if (dead && is_filler) {
    mark_found(instruction, Code::kPadding);
  } else if (dead) {
    mark_found({instruction.start, instruction.start + 1}, Code::kEntered);
    dead = false;
  }
  return dead || ends;
}

void CodeAnalysis::mark_found(Range range, uint8_t flag) {
  mark(range, flag);
  padding_->add(range, flag);
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
    code_.flags_[address - code_.range().start] |= flag;
}

void CodeAnalysis::mark(Range range, uint8_t flag) {
  const Range all = code_.range();
  range = {std::max(range.start, all.start), std::min(range.end, all.end)};
  for (uint64_t at = range.start; at < range.end; ++at) mark(at, flag);
}

}  // namespace tracewell::pads
