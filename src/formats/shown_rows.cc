#include "formats/shown_rows.h"

#include <algorithm>

#include "base/endian.h"

namespace tracewell::formats {
namespace {

using Access = Step::MemoryAccess;
using Kind = Access::Kind;

/// Of threads beyond that, every value counts as news.
constexpr size_t kThreadsMax = 4096;

std::span<const Step::RegisterChange> changes(const RegisterLayout& layout,
                                              const std::vector<ShownRow::Value>& values,
                                              Bytes bytes, Batch& batch) {
  std::vector<Step::RegisterChange> out;
  out.reserve(values.size());
  for (const ShownRow::Value& value : values)
    out.push_back({value.index, batch.copy(bytes.subspan(
                                    value.at, layout.registers[value.index].size_bytes))});
  return batch.copy_array(std::span<const Step::RegisterChange>(out));
}

/// A read and a write of the same place beside each other are one access that is both.
std::span<const Access> accesses(const ShownRow& row, Batch& batch) {
  std::vector<Access> out;
  out.reserve(row.pieces.size());
  for (const ShownRow::Piece& piece : row.pieces) {
    const Bytes bytes = batch.copy(Bytes(row.bytes).subspan(piece.at, piece.size));
    if (piece.kind == Kind::Write && !out.empty() && out.back().kind == Kind::Read &&
        out.back().address == piece.address && out.back().size == piece.size) {
      out.back().kind = Kind::ReadWrite;
      out.back().new_bytes = bytes;
      continue;
    }
    Access access;
    access.address = piece.address;
    access.kind = piece.kind;
    access.size = piece.size;
    (piece.kind == Kind::Read ? access.old_bytes : access.new_bytes) = bytes;
    out.push_back(access);
  }
  return batch.copy_array(std::span<const Access>(out));
}

}  // namespace

void ShownRow::clear() {
  seq = tid = pc = 0;
  opcode.clear();
  note.clear();
  values.clear();
  pieces.clear();
  bytes.clear();
}

size_t ShownRow::add_bytes(Bytes more) {
  const size_t at = bytes.size();
  bytes.insert(bytes.end(), more.begin(), more.end());
  return at;
}

void ShownRows::keep_news(ShownRow& row) {
  if (row.values.empty()) return;
  auto found = by_thread_.find(row.tid);
  if (found == by_thread_.end()) {
    if (by_thread_.size() >= kThreadsMax) return;
    found = by_thread_.try_emplace(row.tid).first;
    found->second.reset(layout_);
  }
  RegisterState& state = found->second;
  std::erase_if(row.values, [&](const ShownRow::Value& value) {
    const Register& one = layout_.registers[value.index];
    const Bytes shown = Bytes(row.bytes).subspan(value.at, one.size_bytes);
    const auto known = state.block.begin() + one.offset;
    if (state.is_valid(value.index) && std::equal(shown.begin(), shown.end(), known)) return true;
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
  step.memory = accesses(*held_, batch);
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

void ShownRows::add(ShownRow& row, Batch& batch) {
  show_pc(row);
  keep_news(row);
  if (held_) {
    const bool follows = held_->tid == row.tid && !gap_;
    emit(follows ? &row.values : nullptr, &row.bytes, batch);
    if (follows) row.values.clear();
    std::swap(*held_, row);
  } else {
    held_.emplace(std::move(row));
    row = ShownRow();
  }
  gap_ = false;
}

void ShownRows::finish(Batch& batch) {
  if (held_) emit(nullptr, nullptr, batch);
  held_.reset();
}

}  // namespace tracewell::formats
