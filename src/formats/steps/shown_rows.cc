#include "formats/steps/shown_rows.h"

#include <algorithm>
#include <utility>

#include "base/endian.h"
#include "formats/steps/row_accesses.h"

namespace tracewell::formats {
namespace {

/// Of the registers of threads. Of those beyond that, every value counts as news.
constexpr size_t kThreadBytesMax = 8 << 20;
constexpr size_t kThreadCost = 128;  // of one, besides its registers

/// Empty = not known.
Bytes bytes_of(const RegisterLayout& layout, const ShownRow::Value& value, Bytes bytes) {
  if (value.at == ShownRow::Value::kUnknown) return {};
  return bytes.subspan(value.at, layout.registers[value.index].size_bytes);
}

std::span<const Step::RegisterChange> changes(const RegisterLayout& layout,
                                              const std::vector<ShownRow::Value>& values,
                                              Bytes bytes, Batch& batch) {
  std::vector<Step::RegisterChange> out;
  out.reserve(values.size());
  for (const ShownRow::Value& value : values)
    out.push_back({value.index, batch.copy(bytes_of(layout, value, bytes))});
  return batch.copy_array(std::span<const Step::RegisterChange>(out));
}

}  // namespace

void ShownRows::gap(std::string_view why, bool registers_known) {
  if (gap_rows_++ == 0) gap_why_ = why;
  if (!registers_known) forget();
}

void ShownRows::tell_gap(uint64_t seq, Batch& batch) {
  Event& event = batch.add();
  event.seq = seq;
  event.body = Lost{std::exchange(gap_rows_, 0), batch.copy(std::string_view(gap_why_))};
}

size_t ShownRows::threads_max() const {
  return 1 + kThreadBytesMax /
                 (kThreadCost + layout_.size_bytes + layout_.registers.size() / 8);
}

/// Of what the row does not show, and somebody may believe to be known, nothing holds.
void ShownRows::forget(const Thread& thread, ShownRow& row) const {
  std::vector<bool> shown(layout_.registers.size());
  for (const ShownRow::Value& value : row.values) shown[value.index] = true;
  for (uint32_t i = 0; i < shown.size(); ++i)
    if (!shown[i] && thread.registers.is_valid(i))
      row.values.push_back({i, ShownRow::Value::kUnknown});
}

/// Of what a row shows twice, the last one holds.
void ShownRows::drop_repeated(ShownRow& row) {
  seen_.resize(layout_.registers.size());
  ++rows_;
  std::reverse(row.values.begin(), row.values.end());
  std::erase_if(row.values, [&](const ShownRow::Value& value) {
    return std::exchange(seen_[value.index], rows_) == rows_;
  });
  std::reverse(row.values.begin(), row.values.end());
}

/// Nobody knows which registers threads have shown that are not kept: to say of each of them, in
/// each row, that it is unknown would take far more than the rows do.
void ShownRows::start_over() {
  by_thread_.clear();
  forgotten_ = 0;
  overflown_ = false;
  starts_over_ = true;
}

void ShownRows::keep_news(ShownRow& row) {
  drop_repeated(row);
  auto found = by_thread_.find(row.tid);
  const bool is_one_more = found == by_thread_.end() && by_thread_.size() >= threads_max();
  overflown_ |= is_one_more;
  if (overflown_ && forgotten_ != 0) {
    start_over();
    found = by_thread_.end();
  } else if (is_one_more) {
    return;
  }
  if (found == by_thread_.end()) {
    found = by_thread_.try_emplace(row.tid).first;
    found->second.registers.reset(layout_);
  }
  if (std::exchange(found->second.forgotten, forgotten_) != forgotten_)
    forget(found->second, row);
  RegisterState& state = found->second.registers;
  std::erase_if(row.values, [&](const ShownRow::Value& value) {
    const Bytes shown = bytes_of(layout_, value, row.bytes);
    const auto known = state.block.begin() + layout_.registers[value.index].offset;
    if (state.is_valid(value.index) ? std::equal(shown.begin(), shown.end(), known) &&
                                          !shown.empty()
                                    : shown.empty())
      return true;
    state.set(layout_, value.index, shown);
    return false;
  });
}

void ShownRows::emit(const std::vector<ShownRow::Value>* changed,
                     const std::vector<uint8_t>* bytes, Batch& batch) {
  if (!held_->note.empty()) {
    Event& mark = batch.add();
    mark.seq = held_->seq;
    mark.tid = held_->tid;
    mark.body = Mark{batch.copy(std::string_view(held_->note)), false};
  }
  Step step;
  step.pc = held_->pc;
  step.opcode = batch.copy(Bytes(held_->opcode));
  step.before = changes(layout_, held_->values, held_->bytes, batch);
  step.after_known = changed != nullptr;
  if (changed) step.registers = changes(layout_, *changed, *bytes, batch);
  step.memory = told_ == AccessesTold::WithStep ? accesses_as_touched(*held_, batch)
                                                : accesses_as_left(*held_, batch);
  step.memory_incomplete = held_->incomplete;
  Event& event = batch.add();
  event.seq = held_->seq;
  event.tid = held_->tid;
  event.body = step;
}

/// It is a register like the others.
void ShownRows::show_pc(ShownRow& row) const {
  if (!layout_.pc_index) return;
  std::vector<uint8_t> value(layout_.registers[*layout_.pc_index].size_bytes);
  if (value.size() > 8) return;
  store_uint(value.data(), row.pc, value.size(), Endian::Little);
  row.values.push_back({*layout_.pc_index, row.add_bytes(value)});
}

/// To the held row, whose instruction touched that.
void ShownRows::take_accesses(const ShownRow& row) {
  for (ShownRow::Piece piece : row.pieces) {
    piece.at = held_->add_bytes(Bytes(row.bytes).subspan(piece.at, piece.size));
    held_->pieces.push_back(piece);
  }
  held_->incomplete |= row.incomplete;
  accesses_taken_ = true;
}

void ShownRows::add_accesses(const ShownRow& row) {
  if (held_ && gap_rows_ == 0 && !accesses_taken_) take_accesses(row);
}

/// Accesses of an instruction that is no row tell what memory held before the one that is.
void ShownRows::deal_accesses(ShownRow& row, bool follows) {
  if (follows) {
    take_accesses(row);
    row.pieces.clear();
  } else if (held_ && !accesses_taken_) {
    held_->incomplete = true;
  }
  for (ShownRow::Piece& piece : row.pieces) piece.kind = Step::MemoryAccess::Kind::Nearby;
  row.incomplete = false;
}

void ShownRows::add(ShownRow& row, Batch& batch) {
  show_pc(row);
  keep_news(row);
  const bool follows = held_ && held_->tid == row.tid && gap_rows_ == 0 && !starts_over_;
  if (told_ == AccessesTold::BehindStep) deal_accesses(row, follows);
  if (held_) emit(follows ? &row.values : nullptr, &row.bytes, batch);
  if (gap_rows_ != 0) tell_gap(row.seq, batch);
  if (std::exchange(starts_over_, false)) {
    Event& mark = batch.add();
    mark.seq = row.seq;
    mark.body = Mark{"behind a hole, with too many threads to go on", true};
  }
  if (follows) row.values.clear();
  if (!held_) held_.emplace();
  std::swap(*held_, row);
  accesses_taken_ = false;
}

void ShownRows::finish(Batch& batch) {
  const uint64_t behind = held_ ? held_->seq + 1 : 0;
  if (held_ && told_ == AccessesTold::BehindStep && !accesses_taken_) held_->incomplete = true;
  if (held_) emit(nullptr, nullptr, batch);
  if (gap_rows_ != 0) tell_gap(behind, batch);
  held_.reset();
}

}  // namespace tracewell::formats
