#include "formats/trace64/state/registers.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tracewell::formats::trace64 {

RegisterTracker::RegisterTracker(const Shape& shape) : map_(WordMap::of(shape)) {
  looked_at_.resize(map_.layout().registers.size());
  TW_CHECK(looked_at_.size() <= kRegistersMax);
  reset();
}

void RegisterTracker::reset() {
  words_ = {};
  registers_.reset(map_.layout());
  repeated_.clear();
  unknown_.reset();
  masked_ = false;
}

void RegisterTracker::load(const WordState& words) {
  reset();
  words_ = words;
  changed_.clear();
  for (uint32_t i = 0; i < map_.rest_index(); ++i) update(i, changed_);
  update_rest(kAllGroups, changed_);
}

void RegisterTracker::move_to(const WordState& words) {
  const uint32_t count = map_.shape().words;
  if (masked_ || words_.valid.count() != count || words.valid.count() != count) return load(words);
  changed_.clear();
  ++round_;
  const uint32_t size = map_.shape().word;
  std::array<uint8_t, kDumpBytesMax> before = words_.dump;
  words_ = words;
  uint8_t groups = 0;
  for (uint32_t word = 0; word < count; ++word) {
    const uint32_t at = word * size;
    if (std::memcmp(before.data() + at, words_.dump.data() + at, size) == 0) continue;
    groups |= map_.groups_of_word(word);
    update_all_of(word, changed_);
  }
  update_rest(groups, changed_);
}

/// The registers of a word, which all know what it is now.
void RegisterTracker::update_all_of(uint32_t word, std::vector<uint32_t>& changed) {
  for (const uint16_t index : map_.registers_of(word)) {
    if (looked_at_[index] == round_) continue;
    looked_at_[index] = round_;
    update(index, changed);
  }
}

void RegisterTracker::update(uint32_t index, std::vector<uint32_t>& changed) {
  const auto words = map_.words_of(index);
  if (words.empty() || unknown_[index]) return;
  for (const uint16_t word : words)
    if (!words_.valid[word]) return;
  const Register& one = map_.layout().registers[index];
  uint8_t value[16];
  map_.get(words_.dump.data(), index, value);
  uint8_t* const to = registers_.block.data() + one.offset;
  if (registers_.is_valid(index) && std::memcmp(to, value, one.size_bytes) == 0) return;
  std::memcpy(to, value, one.size_bytes);
  registers_.valid[index / 8] |= static_cast<uint8_t>(1u << (index % 8));
  changed.push_back(index);
}

void RegisterTracker::update_rest(uint8_t groups, std::vector<uint32_t>& changed) {
  const uint32_t index = map_.rest_index();
  const Register& one = map_.layout().registers[index];
  const bool was_valid = registers_.is_valid(index);
  if (!was_valid) {
    if (words_.valid.count() != map_.shape().words) return;
    groups = kAllGroups;
    registers_.valid[index / 8] |= static_cast<uint8_t>(1u << (index % 8));
  }
  if (groups == 0) return;
  const bool news =
      map_.rest_of(words_.dump.data(), groups, registers_.block.data() + one.offset);
  if (!was_valid || news) changed.push_back(index);
}

/// One of the first words, each of which is a register.
void RegisterTracker::set_first_word(uint32_t word, uint64_t value,
                                     std::vector<uint32_t>& changed) {
  const uint32_t index = map_.register_of_first_word(word);
  store_uint(registers_.block.data() + map_.extent(index).offset, value, map_.shape().word,
             Endian::Little);
  registers_.valid[index / 8] |= static_cast<uint8_t>(1u << (index % 8));
  changed.push_back(index);
}

void RegisterTracker::forget(Bytes unknown, std::vector<uint32_t>& changed) {
  const auto count = static_cast<uint32_t>(map_.layout().registers.size());
  for (uint32_t i = 0; i < count && i / 8 < unknown.size(); ++i) {
    if ((unknown[i / 8] >> (i % 8) & 1) == 0 || !map_.may_be_unknown(i)) continue;
    unknown_.set(i);
    if (!registers_.is_valid(i)) continue;
    registers_.set(map_.layout(), i, {});
    changed.push_back(i);
  }
  masked_ |= unknown_.any();
}

/// A word that tells no register is not known either, for those who look at words.
void RegisterTracker::forget_words() {
  for (uint32_t i = 0; i < map_.rest_index(); ++i) {
    if (!unknown_[i]) continue;
    for (const uint16_t word : map_.words_of(i)) {
      const auto all = map_.registers_of(word);
      if (std::ranges::none_of(all, [&](uint16_t one) { return registers_.is_valid(one); }))
        words_.valid.reset(word);
    }
  }
  unknown_.reset();
}

/// Is the word there, but not all that it tells known?
bool RegisterTracker::is_masked(uint32_t word) const {
  return masked_ && std::ranges::any_of(map_.registers_of(word), [&](uint16_t one) {
    return !registers_.is_valid(one);
  });
}

void RegisterTracker::apply(const Block& block, std::vector<uint32_t>& changed, Bytes unknown) {
  const Shape& shape = map_.shape();
  changed.clear();
  repeated_.clear();
  if (!unknown.empty()) forget(unknown, changed);
  if (block.has_tid) words_.tid = block.tid;
  uint16_t touched[kWordsMax];
  uint32_t touched_count = 0;
  uint32_t word = 0;
  bool any = false;
  for (uint32_t i = 0; i < block.register_count; ++i, ++word) {
    word += block.positions[i];
    if (word >= shape.words) break;  // somebody has changed the file
    uint8_t* const to = words_.dump.data() + word * shape.word;
    const uint64_t value = load_uint(block.values + i * shape.word, shape.word, Endian::Little);
    if (words_.valid[word] && load_uint(to, shape.word, Endian::Little) == value &&
        !is_masked(word)) {
      repeated_.push_back(static_cast<uint16_t>(word));
      continue;
    }
    store_uint(to, value, shape.word, Endian::Little);
    words_.valid.set(word);
    if (word <= shape.pc_word && !unknown_[map_.register_of_first_word(word)])
      set_first_word(word, value, changed);
    else
      touched[touched_count++] = static_cast<uint16_t>(word);
    any = true;
  }
  if (block.is_full(shape)) repeated_.clear();
  ++round_;
  uint8_t groups = 0;
  for (uint32_t i = 0; i < touched_count; ++i) {
    groups |= map_.groups_of_word(touched[i]);
    update_all_of(touched[i], changed);
  }
  if (any) update_rest(groups, changed);
  if (unknown_.any()) forget_words();
}

}  // namespace tracewell::formats::trace64
