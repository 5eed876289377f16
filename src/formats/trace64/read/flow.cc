#include "formats/trace64/read/flow.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/settled.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr size_t kPlaces = 4096;  // at a time

void set_code(StepFlow::Place& place, const uint8_t* opcode, uint32_t size) {
  place.code = {};
  std::memcpy(place.code.data(), opcode, size);
  place.code[15] = static_cast<uint8_t>(size);
}

/// The same, from bytes of which sixteen can be read.
void set_code_fast(StepFlow::Place& place, const uint8_t* opcode, uint32_t size) {
  uint64_t words[2];
  std::memcpy(words, opcode, 16);
  const uint64_t kept = ~uint64_t{0};
  words[0] &= size < 8 ? ~(kept << (8 * size)) : kept;
  words[1] &= size <= 8 ? 0 : ~(kept << (8 * (size - 8)));
  words[1] |= uint64_t{size} << 56;
  std::memcpy(place.code.data(), words, 16);
}

}  // namespace

FlowReader::FlowReader(std::shared_ptr<const Contents> contents, uint64_t seq)
    : contents_(std::move(contents)),
      bytes_(contents_->file->bytes()),
      shape_(contents_->scan.shape()) {
  const Scan& scan = contents_->scan;
  const Keyframe* from = scan.keyframe_at(seq);
  if (seq >= scan.count() || from == nullptr) {
    at_ = scan.end();
    seq_ = scan.count();
    return;
  }
  at_ = from->offset;
  seq_ = from->seq;
  tid_ = from->tid_before;
  pc_ = scan.state_at(*from).word(shape_.pc_word, shape_);
  find_odd();
  for (Place skipped; seq_ < seq && find_block() && read_any(skipped);) {
  }
}

void FlowReader::find_odd() {
  const Scan& scan = contents_->scan;
  odd_at_ = scan.end() > kBlockBytesMax ? scan.end() - kBlockBytesMax : 0;
  odd_at_ = std::min(odd_at_, scan.plain_to(at_));
}

bool FlowReader::find_block() {
  const Scan& scan = contents_->scan;
  while (at_ < scan.end() && seq_ < scan.count()) {
    const auto& gaps = scan.gaps();
    const auto gap = std::lower_bound(gaps.begin(), gaps.end(), at_,
                                      [](const Gap& one, uint64_t at) { return one.from < at; });
    if (gap != gaps.end() && gap->from == at_) {
      at_ = gap->to;
      continue;
    }
    if (bytes_[at_] < kUserBlockMin) return true;
    Block block;
    if (read_block(bytes_, at_, shape_, false, block) != Reading::Whole) return false;
    at_ += block.size;
  }
  return false;
}

bool FlowReader::read_any(Place& place) {
  Block block;
  if (read_block(bytes_, at_, shape_, contents_->scan.is_hidden(at_), block) != Reading::Whole)
    return false;
  if (block.has_tid) tid_ = block.tid;
  uint32_t word = 0;
  for (uint32_t i = 0; i < block.register_count; ++i, ++word)
    if ((word += block.positions[i]) == shape_.pc_word)
      pc_ = load_uint(block.values + i * shape_.word, shape_.word, Endian::Little);
  place.pc = pc_;
  place.tid = tid_;
  place.seq = seq_++;
  set_code(place, block.opcode.data(), static_cast<uint32_t>(block.opcode.size()));
  at_ += block.size;
  return true;
}

bool FlowReader::read_plain(Place& place) {
  const uint8_t* at = bytes_.data() + at_;
  const uint32_t registers = settled(at[1]), memory = settled(at[2]), flags = settled(at[3]);
  if (at[0] != 0 || registers > shape_.words) return false;
  const uint32_t size = flags & 15u, id_bytes = (flags & kThreadFlag) != 0 ? 4 : 0;
  at += 4;
  if (id_bytes != 0) {
    std::memcpy(&tid_, at, 4);
    at += 4;
  }
  set_code_fast(place, at, size);
  const uint8_t* const positions = at + size;
  const uint8_t* const values = positions + registers;
  for (uint32_t i = 0, word = 0; i < registers; ++i, ++word) {
    word += positions[i];
    if (word < shape_.pc_word) continue;
    if (word == shape_.pc_word) {
      if (shape_.wide) {
        std::memcpy(&pc_, values + i * 8, 8);
      } else {
        uint32_t pc;
        std::memcpy(&pc, values + i * 4, 4);
        pc_ = pc;
      }
    }
    break;
  }
  const uint8_t* const memory_flags = values + registers * shape_.word;
  uint32_t words = 2 * memory;
  for (uint32_t i = 0; i < memory; ++i) words += (memory_flags[i] & 1u) ^ 1u;
  at_ += static_cast<uint64_t>(memory_flags - (bytes_.data() + at_)) + memory + words * shape_.word;
  place.pc = pc_;
  place.tid = tid_;
  place.seq = seq_++;
  return true;
}

Result<bool> FlowReader::next(std::vector<Place>& places) {
  const size_t before = places.size();
  places.resize(before + kPlaces);
  size_t at = before;
  const uint64_t count = contents_->scan.count();
  while (at < places.size()) {
    while (at < places.size() && at_ < odd_at_ && seq_ < count && read_plain(places[at])) ++at;
    if (at == places.size()) break;
    if (!find_block() || !read_any(places[at])) break;
    ++at;
    find_odd();
  }
  places.resize(at);
  return at > before;
}

}  // namespace tracewell::formats::trace64
