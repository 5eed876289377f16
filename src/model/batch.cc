#include "model/batch.h"

#include <algorithm>

#include "base/check.h"
#include "model/catalog.h"
#include "model/registers.h"

namespace tracewell {
namespace {
constexpr size_t kChunkBytes = 256 * 1024;
}

void Batch::clear() {
  events_.clear();
  held_.clear();
  chunk_ = 0;
  used_ = 0;
}

void* Batch::allocate_elsewhere(size_t size, size_t alignment) {
  while (chunk_ < chunks_.size()) {
    const size_t at = (used_ + alignment - 1) & ~(alignment - 1);
    if (at + size <= chunks_[chunk_].size) {
      used_ = at + size;
      return chunks_[chunk_].data.get() + at;
    }
    ++chunk_;
    used_ = 0;
  }
  const size_t chunk_bytes = std::max(size, kChunkBytes);
  chunks_.push_back({std::make_unique<uint8_t[]>(chunk_bytes), chunk_bytes});
  used_ = size;
  return chunks_[chunk_].data.get();
}

std::string_view Batch::copy(std::string_view text) { return as_text(copy(as_bytes(text))); }

Change Batch::copy(const Change& change) {
  Change out = change;
  out.text = copy(change.text);
  if (change.process != nullptr) out.process = keep(*change.process);
  if (change.module != nullptr) out.module = keep(*change.module);
  return out;
}

void Batch::hold(std::shared_ptr<const void> owner) {
  if (held_.empty() || held_.back() != owner) held_.push_back(std::move(owner));
}

const Register* RegisterLayout::find(std::string_view name) const {
  for (const Register& one : registers)
    if (one.name == name) return &one;
  return nullptr;
}

const Register* RegisterLayout::by_number(uint32_t number) const {
  auto at = std::lower_bound(registers.begin(), registers.end(), number,
                             [](const Register& r, uint32_t n) { return r.number < n; });
  return at != registers.end() && at->number == number ? &*at : nullptr;
}

void RegisterState::reset(const RegisterLayout& layout) {
  block.assign(layout.size_bytes, 0);
  valid.assign((layout.registers.size() + 7) / 8, 0);
}

void RegisterState::set(const RegisterLayout& layout, uint32_t index,
                        std::span<const uint8_t> value) {
  const Register& one = layout.registers[index];
  TW_CHECK(value.empty() || value.size() == one.size_bytes);
  const auto bit = static_cast<uint8_t>(1u << (index % 8));
  if (value.empty()) {
    std::fill_n(block.begin() + one.offset, one.size_bytes, uint8_t{0});
    valid[index / 8] &= static_cast<uint8_t>(~bit);
  } else {
    copy_bytes(block.data() + one.offset, value.data(), value.size());
    valid[index / 8] |= bit;
  }
}

const FrameBlock* find_block(const Frame& frame, FrameBlock::Kind kind) {
  for (const FrameBlock& block : frame.blocks)
    if (block.kind == kind) return &block;
  return nullptr;
}

bool register_valid(const Frame& frame, uint32_t index) {
  if (frame.registers_valid.empty()) return true;
  return index / 8 < frame.registers_valid.size() &&
         (frame.registers_valid[index / 8] >> (index % 8) & 1) != 0;
}

}  // namespace tracewell
