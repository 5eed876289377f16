#include "formats/trace64/state/repeats.h"

#include "formats/trace64/blocks/words.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint64_t kDirectionFlag = 1 << 10;

/// Of one of the first words.
std::optional<uint64_t> word_behind(const Shape& shape, const WordState& before, const Block& next,
                                    uint32_t word) {
  if (!next.unknown.empty()) {
    const WordMap& map = WordMap::of(shape);
    const uint32_t index = map.register_of_first_word(word);
    if (index / 8 < next.unknown.size() && (next.unknown[index / 8] >> (index % 8) & 1) != 0 &&
        map.may_be_unknown(index))
      return std::nullopt;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < next.register_count; ++i, ++at) {
    at += next.positions[i];
    if (at > word) break;
    if (at == word) return load_uint(next.values + i * shape.word, shape.word, Endian::Little);
  }
  if (!before.valid[word]) return std::nullopt;
  return before.word(word, shape);
}

/// Takes in what one of several says; false: they contradict each other.
template <class Value>
bool agree(std::optional<Value>& all, Value one) {
  if (all && *all != one) return false;
  all = one;
  return true;
}

struct Found {
  std::optional<uint64_t> elements;
  std::optional<bool> down;
};

/// By how much the operand's register has moved. False: by no whole number of elements, or by
/// another one than what was found.
bool take_move(const machine::MemoryOperand& operand, uint64_t from, uint64_t to, Found& found) {
  const uint32_t unused = 64 - operand.address_bits;
  const auto moved = static_cast<int64_t>((to - from) << unused) >> unused;
  const uint64_t bytes = moved < 0 ? -static_cast<uint64_t>(moved) : static_cast<uint64_t>(moved);
  if (bytes % operand.size != 0 || !agree(found.elements, bytes / operand.size)) return false;
  return bytes == 0 || agree(found.down, moved < 0);
}

}  // namespace

Behind look_behind(const Shape& shape, const WordState& before, const Block& next, bool strings) {
  Behind out;
  out.pc = word_behind(shape, before, next, shape.pc_word);
  if (!strings) return out;
  out.count = word_behind(shape, before, next, kCountWord);
  out.source = word_behind(shape, before, next, kSourceWord);
  out.target = word_behind(shape, before, next, kTargetWord);
  return out;
}

bool moves_along(const machine::MemoryOperand& operand) {
  return (operand.base == kSourceWord || operand.base == kTargetWord) && operand.index < 0 &&
         operand.displacement == 0 && operand.size != 0;
}

std::optional<StringRun> find_string_run(const Shape& shape, const machine::Instruction& repeated,
                                         const WordState& before, const Behind& behind) {
  const uint32_t unused = 64 - repeated.memory[0].address_bits;
  Found found;
  if (before.valid[kCountWord]) {
    const uint64_t from = before.word(kCountWord, shape) << unused >> unused;
    const uint64_t to = behind.count.value_or(0) << unused >> unused;
    if (to > from) return std::nullopt;
    if (behind.count || from <= 1) found.elements = from - to;
  }
  for (const machine::MemoryOperand& one : repeated.operands()) {
    if (!moves_along(one)) continue;
    const auto word = static_cast<uint32_t>(one.base);
    const auto& to = word == kSourceWord ? behind.source : behind.target;
    if (!before.valid[word] || !to) continue;
    if (!take_move(one, before.word(word, shape), *to, found)) return std::nullopt;
  }
  if (!found.elements) return std::nullopt;
  const uint32_t flags = shape.pc_word + 1;
  if (*found.elements != 0 && before.valid[flags] &&
      !agree(found.down, (before.word(flags, shape) & kDirectionFlag) != 0))
    return std::nullopt;
  if (*found.elements > 1 && !found.down) return std::nullopt;
  return StringRun{*found.elements, found.down.value_or(false)};
}

}  // namespace tracewell::formats::trace64
