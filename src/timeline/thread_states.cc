#include "timeline/thread_states.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/varint.h"

namespace tracewell::timeline {
namespace {

/// Runs: varint how many bytes are the same, varint how many are not, and these.
void put_differences(std::vector<uint8_t>& out, const std::vector<uint8_t>& base,
                     const std::vector<uint8_t>& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t from = at;
    while (at < bytes.size() && bytes[at] == base[at]) ++at;
    const size_t first = at;
    while (at < bytes.size() && bytes[at] != base[at]) ++at;
    append_varint(out, first - from);
    append_varint(out, at - first);
    out.insert(out.end(), bytes.begin() + static_cast<ptrdiff_t>(first),
               bytes.begin() + static_cast<ptrdiff_t>(at));
  }
}

void take_differences(Cursor& in, std::vector<uint8_t>& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    at += in.varint();
    for (uint64_t left = in.varint(); left > 0; --left) bytes[at++] = in.byte();
  }
}

}  // namespace

RegisterState& ThreadStates::other(uint32_t number) {
  if (number < kWhole) {
    TW_CHECK(number == whole_.size());
    whole_.emplace_back().reset(layout_);
    return whole_.back();
  }
  if (here_ == UINT32_MAX)
    base_ = whole_.front();
  else
    close();
  here_ = number;
  if (number - kWhole < packed_.size()) {
    unpack(packed_[number - kWhole], open_);
    packed_bytes_ -= packed_[number - kWhole].capacity();
    packed_[number - kWhole] = {};
  } else {
    TW_CHECK(number - kWhole == packed_.size());
    packed_.emplace_back();
    packed_bytes_ += sizeof(packed_[0]) + 32;
    open_.reset(layout_);
  }
  return open_;
}

/// What is open becomes one of those that are not.
void ThreadStates::close() {
  scratch_.clear();
  put_differences(scratch_, base_.valid, open_.valid);
  put_differences(scratch_, base_.block, open_.block);
  std::vector<uint8_t>& packed = packed_[here_ - kWhole];
  packed.assign(scratch_.begin(), scratch_.end());
  packed_bytes_ += packed.capacity();
}

void ThreadStates::unpack(const std::vector<uint8_t>& packed, RegisterState& state) const {
  state = base_;
  Cursor in(packed);
  take_differences(in, state.valid);
  take_differences(in, state.block);
}

}  // namespace tracewell::timeline
