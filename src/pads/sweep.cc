#include "pads/sweep.h"

#include <algorithm>
#include <cstring>

namespace tracewell::pads {
namespace {

using machine::CodeInstruction;
using Flow = CodeInstruction::Flow;
using Through = CodeInstruction::Through;

/// A jump through a register belongs to a table when its entry was loaded so many instructions
/// ahead; compilers put an addition in between, and what else there is to do.
constexpr size_t kTableLoadWindow = 16;
constexpr size_t kNamesMax = size_t{1} << 24;  // of places that name a table, or might
/// Code that reads a constant among the code: how far it may reach.
constexpr uint64_t kConstantBytes = 64;

}  // namespace

Sweep::Sweep(const Area& code, std::vector<Range> functions, const std::function<bool()>& stop)
    : address_(code.address),
      bytes_(code.bytes.size()),
      flags_(code.bytes.size()),
      given_(std::move(functions)),
      decoder_(std::in_place),
      stop_(&stop) {
  constexpr size_t kPage = ZeroedBytes::kPage;
  for (size_t at = 0; at < bytes_.size(); at += kPage) {
    const Bytes page = code.bytes.subspan(at, std::min(kPage, bytes_.size() - at));
    empty_.push_back(bytes_.put(at, page) == 0 && page.size() == kPage);
  }
  look_at_all();
  decoder_.reset();
  stop_ = nullptr;
}

bool Sweep::is_of(const Area& code, const std::vector<Range>& functions) const {
  return why_ == nullptr && flags_.data() != nullptr && address_ == code.address &&
         given_ == functions && bytes_.size() == code.bytes.size() &&
         (bytes_.size() == 0 ||
          std::memcmp(bytes_.data(), code.bytes.data(), bytes_.size()) == 0);
}

void Sweep::look_at_all() {
  take_functions();
  uint64_t end = address_;
  for (current_ = 0; current_ < functions_.size(); ++current_) {
    Function& function = functions_[current_];
    look_at_gap({end, function.range.start});
    look_at(function);
    end = function.range.end;
    if (left_off()) return;
  }
  look_at_gap({end, range().end});
}

/// Asked for each instruction.
bool Sweep::left_off() {
  constexpr uint64_t kUnaskedMax = 1 << 16;
  if (++unasked_ < kUnaskedMax || why_ != nullptr) return why_ != nullptr;
  unasked_ = 0;
  if (*stop_ && (*stop_)()) why_ = "nobody waits for what is found out of the code";
  return why_ != nullptr;
}

/// How many bytes of zeros it begins with.
uint64_t Sweep::zeros_in(Range range) const {
  constexpr uint64_t kPage = ZeroedBytes::kPage;
  const uint64_t base = address_;
  uint64_t at = range.start;
  while (at < range.end) {
    if (is_empty(at)) at += kPage - (at - base) % kPage;
    else if (bytes_[at - base] == 0) ++at;
    else break;
  }
  return std::min(at, range.end) - range.start;
}

/// Where a function ends at the latest that has this range: none has a page of zeros inside.
uint64_t Sweep::cut(Range range) const {
  constexpr uint64_t kPage = ZeroedBytes::kPage;
  const uint64_t base = address_;
  for (uint64_t at = base + (range.start - base) / kPage * kPage; at < range.end; at += kPage)
    if (is_empty(at)) return std::max(at, range.start);
  return range.end;
}

void Sweep::take_functions() {
  std::vector<Range> ranges;
  const Range all = range();
  for (Range range : given_) {
    range.start = std::max(range.start, all.start);
    range.end = std::min(range.end, all.end);
    if (range.start < range.end) ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  for (const Range& range : ranges) {
    mark(range.start, kEntered);
    if (functions_.empty() || range.start >= functions_.back().range.end)
      functions_.push_back({range});
    else
      functions_.back().range.end = std::max(functions_.back().range.end, range.end);
    if (left_off()) return;
  }
  for (Function& function : functions_) function.range.end = cut(function.range);
}

/// From its start to its end, one instruction behind the other. What is no instruction, or reaches
/// over the end, makes the whole function one that is not understood.
void Sweep::look_at(Function& function) {
  since_table_load_ = SIZE_MAX;
  uint64_t pc = function.range.start;
  while (pc < function.range.end) {
    const CodeInstruction one = decode(pc);
    if (one.length == 0 || pc + one.length > function.range.end) {
      function.understood = false;
      ++pc;
      continue;
    }
    if (function.understood)
      mark(pc, kStart | (one.ends() ? unsigned{kEnds} : 0) |
                   (one.nop || one.int3 ? unsigned{kFiller} : 0));
    note(one, pc, &function);
    pc += one.length;
    if (left_off()) return;
  }
  if (function.understood) return;
  mark(function.range, kKept);
  for (uint64_t at = function.range.start; at < function.range.end; ++at)
    flags_[at - address_] &= static_cast<uint8_t>(~kStart);
}

/// Code without a name may branch into functions, too. Where it is data, this marks some places
/// for nothing. Zeros are instructions of two bytes that lead nowhere, and there may be many.
void Sweep::look_at_gap(Range gap) {
  uint64_t pc = gap.start;
  while (pc < gap.end && !left_off()) {
    const uint64_t zeros = is_empty(pc) ? zeros_in({pc, gap.end}) / 2 * 2 : 0;
    if (zeros != 0) {
      pc += zeros;
      continue;
    }
    const CodeInstruction one = decode(pc);
    if (one.length != 0) note(one, pc, nullptr);
    pc += std::max<uint64_t>(one.length, 1);
  }
}

void Sweep::note(const CodeInstruction& one, uint64_t pc, Function* function) {
  if (one.target) mark(*one.target, kEntered);
  if (one.flow == Flow::Call || one.flow == Flow::System) mark(pc + one.length, kEntered);
  if (one.endbr) mark(pc, kEntered);
  if (one.named) {
    mark(*one.named, kEntered);
    if (named_.size() + slot_jumps_.size() > kNamesMax)
      why_ = "it names more addresses than code does";
    if (one.address_of)
      named_.push_back({*one.named, function != nullptr ? current_ : SIZE_MAX});
    else
      mark(Range{*one.named, *one.named + kConstantBytes}, kKept);
  }
  if (function == nullptr) return;
  if (one.named && one.address_of && function->range.holds(*one.named) &&
      *one.named != function->range.start)
    function->names_own_inside = true;
  if (since_table_load_ != SIZE_MAX) ++since_table_load_;
  if (one.table_load) since_table_load_ = 0;
  if (one.flow == Flow::Jump) note_jump(one, *function);
}

void Sweep::note_jump(const CodeInstruction& one, Function& function) {
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

void Sweep::mark(Range range, unsigned flags) {
  const Range all = this->range();
  range = {std::max(range.start, all.start), std::min(range.end, all.end)};
  for (uint64_t at = range.start; at < range.end; ++at) mark(at, flags);
}

}  // namespace tracewell::pads
