#include "formats/trace64/state/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tracewell::formats::trace64 {
namespace {

// Of what a repeated instruction did in one step, beyond its first element: a block of a few bytes
// can claim any length.
constexpr uint64_t kRestBytesMax = 16 << 10;

}  // namespace

using machine::Instruction;
using machine::MemoryOperand;
using Stack = Instruction::Stack;

MemoryReader::MemoryReader(const Shape& shape, const Block& block, const MemoryContext& context,
                           Batch& batch)
    : shape_(shape), block_(block), context_(context), instruction_(*context.instruction),
      batch_(batch) {
  // The flags may have been others when their changes were counted.
  uint32_t at = 0;
  for (uint32_t i = 0; i < block.memory_count; ++i)
    new_[i] = at < block.new_count && changed(i) ? block.new_words + shape.word * at++ : nullptr;
  static_assert(std::endian::native == std::endian::little);
  if (shape.wide)
    std::memcpy(addresses_.general.data(), context.state->dump.data(), 16 * 8);
  else
    for (uint32_t i = 0; i < 8; ++i) addresses_.general[i] = context.state->word(i, shape);
  addresses_.pc = context.state->word(shape.pc_word, shape);
  if (instruction_.repeats && instruction_.count != 0 && context.state->valid[1]) {
    const uint32_t bits = instruction_.memory[0].address_bits;
    idle_ = addresses_.general[1] << (64 - bits) == 0;
  }
  const bool here = context.state->valid[shape.pc_word];
  if (here && context.behind.pc && instruction_.length != 0 && !instruction_.branches) {
    const uint64_t pc = addresses_.pc;
    faulted_ = *context.behind.pc != cut(pc + instruction_.length) &&
               !(instruction_.repeats && *context.behind.pc == pc);
  }
  // (Who handles a fault may have other registers.)
  if (instruction_.repeats && instruction_.count != 0 && !faulted_)
    run_ = find_string_run(shape, instruction_, *context.state, context.behind);
}

uint64_t MemoryReader::address(uint32_t entry) const {
  return load_uint(block_.addresses + entry * shape_.word, shape_.word, Endian::Little);
}

uint64_t MemoryReader::cut(uint64_t address) const {
  return shape_.wide ? address : address & UINT32_MAX;
}

/// Where the stack pointer is. While no block has listed it, the next entry tells, which is `above`
/// words above it.
std::optional<uint64_t> MemoryReader::sp(int above) const {
  if (context_.state->valid[kSpWord]) return addresses_.general[kSpWord];
  if (used_ >= block_.memory_count) return std::nullopt;
  return cut(address(used_) - static_cast<uint64_t>(above) * shape_.word);
}

bool MemoryReader::is_row(Place place, uint64_t from) const {
  if (place.entry + place.entries > block_.memory_count) return false;
  for (uint32_t i = 0; i < place.entries; ++i)
    if (address(place.entry + i) != cut(from + uint64_t{i} * shape_.word)) return false;
  return true;
}

bool MemoryReader::known(const MemoryOperand& operand) const {
  for (const int8_t number : {operand.base, operand.index, operand.bit_offset}) {
    if (number < 0) continue;
    const uint32_t word = number == MemoryOperand::kIp ? shape_.pc_word
                                                       : static_cast<uint32_t>(number);
    if (!context_.state->valid[word]) return false;
  }
  return true;
}

Bytes MemoryReader::old_of(Place place) const {
  return {block_.old_words + place.entry * shape_.word, place.entries * shape_.word};
}

Bytes MemoryReader::new_of(Place place) {
  if (place.entries == 1 && new_[place.entry]) return {new_[place.entry], shape_.word};
  if (place.entries == 1) return old_of(place);
  std::array<uint8_t, kMemoryMax * 8> bytes;
  for (uint32_t i = 0; i < place.entries; ++i) {
    const uint32_t entry = place.entry + i;
    std::memcpy(bytes.data() + i * shape_.word,
                new_[entry] ? new_[entry] : block_.old_words + entry * shape_.word, shape_.word);
  }
  return batch_.copy(Bytes(bytes.data(), place.entries * shape_.word));
}

/// After a fault, an old content of zeros: nothing could be read there, and as the new one the
/// recorder stored what its buffer held. (Or there are zeros, which nobody can tell from that.)
bool MemoryReader::unreadable(Place place) const {
  if (!faulted_) return false;
  const Bytes old_bytes = old_of(place);
  return std::all_of(old_bytes.begin(), old_bytes.end(), [](uint8_t byte) { return byte == 0; });
}

/// The entries of one operand, and what they hold beyond it.
void MemoryReader::put(Place place, Kind kind, uint32_t size) {
  const uint32_t stored = place.entries * shape_.word;
  used_ = place.entry + place.entries;
  if (size > stored) incomplete_ = true;
  const bool too_large = size > UINT8_MAX;  // its size was cut to a byte: the old content too
  Step::MemoryAccess access{address(place.entry), kind, std::min(size, stored), {}, {}};
  if (unreadable(place)) {
    incomplete_ = true;
    out_->push_back(access);
    return;
  }
  const Bytes before = old_of(place).first(access.size);
  const Bytes after = new_of(place).first(access.size);
  const bool same = std::equal(before.begin(), before.end(), after.begin());
  access.old_bytes = before;
  if (too_large && !same &&
      std::all_of(before.begin(), before.end(), [](uint8_t byte) { return byte == 0; }))
    access.old_bytes = {};
  if (kind != Kind::Read || !same) access.new_bytes = after;
  out_->push_back(access);
  if (size > stored) out_->push_back({cut(access.address + stored), kind, size - stored, {}, {}});
  if (size < stored) put_tail(place, size);
}

/// The entry is of the first element. The others were accessed as well if it was one step for all.
void MemoryReader::put_repeated(Place place, Kind kind, const MemoryOperand& operand) {
  const uint32_t element = operand.size;
  if (!run_) {
    incomplete_ |= operand.writes;
    return put(place, kind, element);
  }
  // Where that is as many bytes as there are addresses, it is no run.
  const uint64_t most = UINT64_MAX >> (64 - operand.address_bits);
  const uint64_t elements = std::max<uint64_t>(run_->elements, 1);
  if (elements > most / element) {
    incomplete_ = true;
    return put(place, kind, element);
  }
  const uint64_t size = elements * element, at = address(place.entry);
  const uint64_t first = run_->down ? element : std::min<uint64_t>(size, shape_.word);
  put(place, kind, static_cast<uint32_t>(first));
  if (size == first) return;
  const auto base = static_cast<size_t>(operand.base);
  const uint64_t from = (known(operand) ? addresses_.general[base] : at) & most;
  if (run_->down ? size - element > from : size - 1 > most - from)
    incomplete_ = true;  // goes on at the other end of all addresses
  else
    put_rest(run_->down ? at : cut(at + first), kind, size - first, run_->down);
}

/// Beyond a run's first bytes, of unknown contents. `address`: where it begins; `down`: in front of
/// which it ends.
void MemoryReader::put_rest(uint64_t address, Kind kind, uint64_t size, bool down) {
  if (size > kRestBytesMax) incomplete_ = true;
  size = std::min(size, kRestBytesMax);
  if (down) address = cut(address - size);
  out_->push_back({address, kind, static_cast<uint32_t>(size), {}, {}});
}

/// What stands in the last entry behind the operand. Where the operand has several, the recorder
/// read the old content of the operand alone, and left zeros behind it.
void MemoryReader::put_tail(Place place, uint32_t size) {
  const uint32_t stored = place.entries * shape_.word;
  const bool last_changed = new_[place.entry + place.entries - 1] != nullptr;
  Step::MemoryAccess tail{cut(address(place.entry) + size), Kind::Nearby, stored - size, {}, {}};
  if (place.entries == 1 || !last_changed) tail.old_bytes = old_of(place).subspan(size);
  if (last_changed) {
    tail.new_bytes = new_of(place).subspan(size);
    if (!tail.old_bytes.empty() &&
        std::equal(tail.old_bytes.begin(), tail.old_bytes.end(), tail.new_bytes.begin()))
      tail.new_bytes = {};
  }
  out_->push_back(tail);
}

/// All of the entries is real, and not touched.
void MemoryReader::put_nearby(Place place) {
  used_ = place.entry + place.entries;
  Step::MemoryAccess nearby{address(place.entry), Kind::Nearby, place.entries * shape_.word,
                            old_of(place), {}};
  for (uint32_t i = 0; i < place.entries; ++i)
    if (new_[place.entry + i]) nearby.new_bytes = new_of(place);
  out_->push_back(nearby);
}

/// The stack slot of a push or call, recorded at sp minus a word.
void MemoryReader::put_push(uint32_t entry, uint32_t size, PushOld old) {
  const uint32_t word = shape_.word;
  const Place place{entry, 1};
  used_ = entry + 1;
  size = size == 0 || size > word ? word : size;
  const Bytes before = old_of(place);
  const Bytes after = new_of(place);
  const uint64_t at = address(entry);
  if (size < word) {
    Step::MemoryAccess below{at, Kind::Nearby, word - size, {}, after.first(word - size)};
    if (old == PushOld::Slot) below.old_bytes = before.first(word - size);
    out_->push_back(below);
  }
  Step::MemoryAccess access{cut(at + word - size), Kind::Write, size, {},
                            after.subspan(word - size)};
  if (old == PushOld::Slot) access.old_bytes = before.subspan(word - size);
  out_->push_back(access);
  if (old == PushOld::Top && size == word)
    out_->push_back({cut(at + word), Kind::Nearby, word, before, {}});
}

/// An operand without entry: it was accessed, but nobody knows what was there, or even where.
void MemoryReader::missing(const MemoryOperand& operand, std::optional<uint64_t> at) {
  incomplete_ = true;
  if (!at || operand.size == 0 || operand.vector_index) return;
  const Kind kind = !operand.writes ? Kind::Read : operand.reads ? Kind::ReadWrite : Kind::Write;
  out_->push_back({cut(*at), kind, operand.size, {}, {}});
}

/// Hidden operands of stack instructions: the recorder's address is not always the processor's.
bool MemoryReader::stack_operand(const MemoryOperand& operand) {
  const uint32_t word = shape_.word;
  const auto below = [](std::optional<uint64_t> top, uint64_t bytes) {
    return top ? std::optional(*top - bytes) : std::nullopt;
  };
  switch (instruction_.stack) {
    case Stack::Push:
    case Stack::Call: {
      const bool both = block_.memory_count - used_ == 2 &&
                        is_row({used_ + 1, 1}, address(used_) - word);
      const std::optional<uint64_t> top = sp(both ? 0 : -1);
      if (top && is_row({used_, 1}, *top - word)) {
        put_push(used_, operand.size, context_.push_old);
      } else if (both && top && is_row({used_, 1}, *top)) {
        put_nearby({used_, 1});
        put_push(used_, operand.size, PushOld::Slot);
      } else {
        missing(operand, below(top, operand.size));
      }
      return true;
    }
    case Stack::PushAll:
    case Stack::Enter: {
      const std::optional<uint64_t> top = sp(0);
      const uint32_t entries = (operand.size + word - 1) / word;
      if (top && is_row({used_, entries}, *top)) put_nearby({used_, entries});
      missing(operand, below(top, operand.size));
      return true;
    }
    case Stack::Other:
      return operand.writes && far_call(operand);
    default:
      return false;
  }
}

/// Two slots. Recorded is [sp], or, by recorders that see no hidden operands, the upper slot.
bool MemoryReader::far_call(const MemoryOperand& operand) {
  const uint32_t word = shape_.word;
  const uint32_t entries = (operand.size + word - 1) / word;
  const std::optional<uint64_t> top = sp(0);
  MemoryOperand rest = operand;
  if (top && is_row({used_, 1}, cut(*top - word))) {
    const uint32_t size = std::min(operand.size, word);
    put_push(used_, size, context_.push_old);
    rest.size -= size;
  } else if (top && is_row({used_, entries}, *top)) {
    put_nearby({used_, entries});
  }
  if (rest.size != 0) missing(rest, top ? std::optional(*top - operand.size) : std::nullopt);
  return true;
}

bool MemoryReader::operand(const MemoryOperand& operand) {
  if (operand.hidden && stack_operand(operand)) return true;
  const auto counted = static_cast<uint8_t>(operand.size);
  const uint32_t entries = std::max(1u, (counted + shape_.word - 1) / shape_.word);
  const Place place{used_, entries};
  uint64_t at = cut(machine::effective_address(operand, addresses_, instruction_.length));
  const auto moved = shape_.wide ? MemoryOperand::Segment::Gs : MemoryOperand::Segment::Fs;
  // The entry alone tells where that is.
  const bool open = operand.segment == moved || !known(operand);
  const bool fits = is_row(place, open && used_ < block_.memory_count ? address(used_) : at);
  const bool named_only = !operand.reads && !operand.writes;
  if (!fits && (named_only || idle_)) return true;
  if (!fits) {
    missing(operand, open ? std::nullopt : std::optional(at));
    return operand.hidden || used_ == block_.memory_count;
  }
  at = address(used_);
  if (named_only || idle_) {
    put_nearby(place);
    return true;
  }
  if (operand.vector_index || operand.size == 0) {  // nobody knows how much of what
    put_nearby(place);
    incomplete_ = true;
    return true;
  }
  // Bit tests are recorded at the operand, wherever the bit is.
  if (operand.bit_offset >= 0 && !known(operand)) {
    put_nearby(place);
    incomplete_ = true;
    return true;
  }
  if (const uint64_t moved_by = machine::bit_offset_bytes(operand, addresses_); moved_by != 0) {
    put_nearby(place);
    missing(operand, at + moved_by);
    return true;
  }
  if (operand.masked) incomplete_ = true;  // the rest of it was neither read nor written
  // `pop [sp + …]` takes sp as it is after the pop, which the recorder does not know.
  if (instruction_.stack == Stack::Pop && !operand.hidden && operand.base == 4) {
    put_nearby(place);
    missing(operand, at + instruction_.stack_bytes);
    return true;
  }
  const Kind kind = !operand.writes ? Kind::Read : operand.reads ? Kind::ReadWrite : Kind::Write;
  if (instruction_.repeats && moves_along(operand))
    put_repeated(place, kind, operand);
  else
    put(place, kind, operand.size);
  return true;
}

/// Recorders before June 2024 have no hidden operands, but an entry of their own for the stack slot
/// of push, pop, call and ret; for a few days they had both.
void MemoryReader::own_stack_entry() {
  if (used_ == block_.memory_count) return;
  const bool pops = instruction_.stack == Stack::Pop || instruction_.stack == Stack::Return;
  if (!pops || !is_row({used_, 1}, sp(0).value_or(0))) return;
  ++used_;  // the second entry of the same slot; the first was taken for the hidden operand
}

void MemoryReader::as_stored() {
  out_->clear();
  incomplete_ = true;
  for (uint32_t i = 0; i < block_.memory_count; ++i) {
    Step::MemoryAccess access{address(i), new_[i] ? Kind::Write : Kind::Read, shape_.word,
                              old_of({i, 1}), {}};
    if (new_[i]) access.new_bytes = Bytes(new_[i], shape_.word);
    // The last entry of a push need not have what was in its slot.
    const bool pushes = instruction_.stack == Stack::Push || instruction_.stack == Stack::Call;
    if (pushes && i + 1 == block_.memory_count)
      access = {address(i), Kind::Write, shape_.word, {}, new_of({i, 1})};
    out_->push_back(access);
  }
}

void MemoryReader::read(std::vector<Step::MemoryAccess>& out) {
  out_ = &out;
  out.clear();
  bool good = true;
  for (const MemoryOperand& one : instruction_.operands()) good = good && operand(one);
  if (good) own_stack_entry();
  if (!good || used_ != block_.memory_count) as_stored();
}

namespace {

/// The words around a row of accesses.
struct Row {
  std::array<uint8_t, kUsualMemoryMax * 8> before = {}, after = {};
  std::array<bool, kUsualMemoryMax * 8> before_known = {}, after_known = {};

  void add(uint64_t at, const Step::MemoryAccess& access) {
    put(access.old_bytes, at, before, before_known);
    put(access.new_bytes.empty() ? access.old_bytes : access.new_bytes, at, after, after_known);
  }
  /// What nobody has told. Is there any?
  bool guess(uint64_t address, uint64_t mask, uint64_t size, const SeenMemory* seen) {
    bool any = false;
    for (uint64_t i = 0; i < size; ++i) {
      if (before_known[i] && after_known[i]) continue;
      any = true;
      if (!before_known[i] && seen) seen->find((address + i) & mask, before[i]);
      if (!after_known[i] && seen) after[i] = before[i];
    }
    return any;
  }

 private:
  static void put(Bytes from, uint64_t at, std::array<uint8_t, kUsualMemoryMax * 8>& to,
                  std::array<bool, kUsualMemoryMax * 8>& known) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<ptrdiff_t>(at));
    std::fill_n(known.begin() + static_cast<ptrdiff_t>(at), from.size(), true);
  }
};

/// Accesses that follow each other without a gap, up to a whole number of words.
size_t row_at(const Shape& shape, std::span<const Step::MemoryAccess> accesses, uint64_t& bytes) {
  size_t count = 1;
  bytes = accesses[0].size;
  const uint64_t mask = shape.wide ? UINT64_MAX : UINT32_MAX;
  while (bytes % shape.word != 0 && count < accesses.size() &&
         accesses[count].address == ((accesses[0].address + bytes) & mask))
    bytes += accesses[count++].size;
  return count;
}

bool contents_known(const Step::MemoryAccess& access) {
  return !access.old_bytes.empty() || !access.new_bytes.empty();
}

}  // namespace

MemoryEntries& MemoryEntries::operator=(const MemoryEntries& other) {
  count = other.count;
  std::copy_n(other.flags.begin(), count, flags.begin());
  std::copy_n(other.address.begin(), count, address.begin());
  std::copy_n(other.old_word.begin(), count, old_word.begin());
  std::copy_n(other.new_word.begin(), count, new_word.begin());
  return *this;
}

bool MemoryEntries::fill(const Shape& shape, std::span<const Step::MemoryAccess> accesses,
                         bool push, const SeenMemory* seen) {
  using Kind = Step::MemoryAccess::Kind;
  const uint64_t mask = shape.wide ? UINT64_MAX : UINT32_MAX;
  count = 0;
  bool whole = true;
  bool old_wanted = false;  // by the entry before: a push whose old content is not known
  while (!accesses.empty()) {
    const Step::MemoryAccess& first = accesses[0];
    const bool shows_top = old_wanted && first.kind == Kind::Nearby && first.size == shape.word &&
                           first.new_bytes.empty() && !first.old_bytes.empty() &&
                           first.address == ((address[count - 1] + shape.word) & mask);
    if (shows_top) {
      old_word[count - 1] = load_uint(first.old_bytes.data(), shape.word, Endian::Little);
      flags[count - 1] = old_word[count - 1] == new_word[count - 1];
      accesses = accesses.subspan(1);
    }
    whole &= !old_wanted || shows_top;
    old_wanted = false;
    if (shows_top) continue;
    uint64_t bytes = 0;
    const auto row = accesses.first(row_at(shape, accesses, bytes));
    accesses = accesses.subspan(row.size());
    if (std::none_of(row.begin(), row.end(), contents_known)) continue;
    const uint64_t words = (bytes + shape.word - 1) / shape.word;
    if (words > kUsualMemoryMax - count) continue;
    Row stored;
    uint64_t at = 0;
    for (const Step::MemoryAccess& one : row) {
      stored.add(at, one);
      at += one.size;
    }
    const bool guessed = stored.guess(row[0].address, mask, words * shape.word, seen);
    for (uint64_t i = 0; i < words; ++i, ++count) {
      address[count] = row[0].address + i * shape.word;
      old_word[count] = load_uint(stored.before.data() + i * shape.word, shape.word,
                                  Endian::Little);
      new_word[count] = load_uint(stored.after.data() + i * shape.word, shape.word,
                                  Endian::Little);
      flags[count] = old_word[count] == new_word[count];
    }
    old_wanted = push && row.size() == 1 && words == 1 && row[0].kind == Kind::Write &&
                 row[0].size == shape.word && row[0].old_bytes.empty() &&
                 !row[0].new_bytes.empty();
    whole &= !guessed || old_wanted;
  }
  return whole && !old_wanted;
}

bool MemoryEntries::parse(const Shape& shape, uint32_t entries, Bytes bytes) {
  const uint32_t word = shape.word;
  if (entries > kMemoryMax || bytes.size() < entries * (1 + 2 * word)) return false;
  count = entries;
  std::copy_n(bytes.begin(), entries, flags.begin());
  const uint8_t* at = bytes.data() + entries;
  size_t left = bytes.size() - entries * (1 + 2 * word);
  for (uint32_t i = 0; i < entries; ++i) {
    address[i] = load_uint(at + i * word, word, Endian::Little);
    old_word[i] = load_uint(at + (entries + i) * word, word, Endian::Little);
  }
  at += 2 * entries * word;
  for (uint32_t i = 0; i < entries; ++i) {
    new_word[i] = old_word[i];
    if ((flags[i] & 1) != 0) continue;
    if (left < word) return false;
    new_word[i] = load_uint(at, word, Endian::Little);
    at += word;
    left -= word;
  }
  return left == 0;
}

void MemoryEntries::append_to(std::vector<uint8_t>& out, const Shape& shape) const {
  ByteWriter writer(out, Endian::Little);
  writer.bytes({flags.data(), count});
  for (uint32_t i = 0; i < count; ++i) writer.uint(address[i], shape.word);
  for (uint32_t i = 0; i < count; ++i) writer.uint(old_word[i], shape.word);
  for (uint32_t i = 0; i < count; ++i)
    if ((flags[i] & 1) == 0) writer.uint(new_word[i], shape.word);
}

bool MemoryEntries::same_as(const Shape& shape, const Block& block) const {
  if (count != block.memory_count || !std::equal(flags.begin(), flags.begin() + count,
                                                 block.memory_flags))
    return false;
  uint32_t fresh = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at = i * shape.word;
    if (load_uint(block.addresses + at, shape.word, Endian::Little) !=
            (shape.wide ? address[i] : address[i] & UINT32_MAX) ||
        load_uint(block.old_words + at, shape.word, Endian::Little) != old_word[i])
      return false;
    if ((flags[i] & 1) != 0) continue;
    if (fresh == block.new_count) return false;  // the flags have changed since they were counted
    const uint8_t* const word = block.new_words + fresh++ * shape.word;
    if (load_uint(word, shape.word, Endian::Little) != new_word[i]) return false;
  }
  return true;
}

}  // namespace tracewell::formats::trace64
