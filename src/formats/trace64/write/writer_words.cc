// Which words a block lists, and what is not known of those that it has.
#include <algorithm>
#include <cstring>

#include "formats/trace64/blocks/user.h"
#include "formats/trace64/write/writer.h"

namespace tracewell::formats::trace64 {

/// The words that the pending step's block names.
Writer::Words Writer::listed(bool full, const Dump* next) {
  const Dump& now = pending_->dump;
  Words differs, changes;
  for (uint32_t word = 0; word < shape_.words; ++word) {
    const uint32_t at = word * shape_.word;
    auto same = [&](const Dump& other) {
      return other.valid[word] == now.valid[word] &&
             std::memcmp(other.bytes.data() + at, now.bytes.data() + at, shape_.word) == 0;
    };
    differs.set(word, !same(last_));
    changes.set(word, next && !same(*next));
  }
  Words out = differs;
  if (!minimal_) out |= changes | changed_before_;
  if (!next && pending_->words) {  // what it was about to change
    for (const uint8_t word : *pending_->words)
      if (word < shape_.words) out.set(word);
  }
  changed_before_ = changes;
  out &= now.valid;
  if (full)
    for (uint32_t word = 0; word < shape_.words; ++word) out.set(word);
  return out;
}

/// Where a reader takes a register for unknown, its words are news even if they are the same.
void Writer::list_what_is_known_again(Words& words) const {
  const RegisterSet again = maskable_ & pending_->known & ~believed_;
  if (again.none()) return;
  for (uint32_t i = 0; i < map_->rest_index(); ++i)
    if (again[i])
      for (const uint16_t word : map_->words_of(i)) words.set(word);
}

/// Says of which registers the block that comes next tells nothing, though it has words for them.
Status Writer::put_unknown(const Words& words) {
  const Words before = told_words_;
  told_words_ |= words;
  if (believed_ != maskable_ || before != told_words_)
    for (uint32_t i = 0; i < map_->rest_index(); ++i) {
      if (!maskable_[i] || believed_[i]) continue;
      const auto of = map_->words_of(i);
      const bool told = std::ranges::any_of(of, [&](uint16_t word) { return words[word]; });
      if (told && std::ranges::all_of(of, [&](uint16_t word) { return told_words_[word]; }))
        believed_.set(i);
    }
  const RegisterSet unknown = believed_ & ~pending_->known;
  if (unknown.none()) return {};
  if (options_.compat) {
    others_.count("instruction{ shows|s show} registers that are not known as 0, or as they were");
    return {};
  }
  believed_ &= ~unknown;
  std::vector<uint8_t> bits((map_->rest_index() + 7) / 8);
  for (uint32_t i = 0; i < map_->rest_index(); ++i)
    if (unknown[i]) bits[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
  std::vector<uint8_t> block;
  append_own_block(block, OwnKind::Unknown, bits);
  return file_.write(Bytes(block));
}

}  // namespace tracewell::formats::trace64
