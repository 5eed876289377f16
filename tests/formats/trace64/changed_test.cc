// Blocks of an x64dbg trace that change between the look at them and their use: each user of one
// keeps to the words that there are, and to the block.
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/trace64/blocks/block.h"
#include "formats/trace64/model.h"
#include "formats/trace64/scan/push.h"
#include "formats/trace64/state/memory.h"
#include "formats/trace64/state/registers.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr size_t kPageBytes = 4096;

/// Bytes right in front of a page that nobody may touch.
class Fenced {
 public:
  explicit Fenced(const std::string& bytes)
      : room_((bytes.size() + kPageBytes - 1) / kPageBytes * kPageBytes), size_(bytes.size()) {
    memory_ = static_cast<uint8_t*>(::mmap(nullptr, room_ + kPageBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(::mprotect(memory_ + room_, kPageBytes, PROT_NONE), 0);
    std::memcpy(data(), bytes.data(), size_);
  }
  ~Fenced() { ::munmap(memory_, room_ + kPageBytes); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  uint8_t* data() { return memory_ + room_ - size_; }
  Bytes bytes() { return {data(), size_}; }

 private:
  size_t room_, size_;
  uint8_t* memory_ = nullptr;
};

Block read_whole(Bytes bytes, const Shape& shape) {
  Block block;
  EXPECT_EQ(read_block(bytes, 0, shape, false, block), Reading::Whole);
  return block;
}

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// Lists words at both ends of the dump.
std::vector<uint8_t> few_words(const Shape& shape) {
  test::RawBlock block;
  block.wide = shape.wide;
  for (const uint32_t word : {0u, 1u, shape.pc_word, shape.words - 2, shape.words - 1})
    block.words.emplace_back(word, 0x5a5a5a5a5a5a5a5a);
  return bytes_of(block.bytes());
}

/// Calls `visit(block)` for the block above, one position of which turned into each other number
/// once it had been read.
template <class Visit>
void each_changed_position(const Shape& shape, Visit&& visit) {
  std::vector<uint8_t> bytes = few_words(shape);
  const Block block = read_whole(bytes, shape);
  const auto first = static_cast<size_t>(block.positions - bytes.data());
  for (size_t at = first; at < first + block.register_count; ++at) {
    const uint8_t good = bytes[at];
    for (int other = 0; other < 256; ++other) {
      bytes[at] = static_cast<uint8_t>(other);
      visit(block);
    }
    bytes[at] = good;
  }
}

TEST(Trace64Changed, APositionThatIsAnotherOneWhenItIsUsed) {
  for (const Shape& shape : {kX64, kX32}) {
    const std::vector<uint8_t> full = bytes_of(test::full_block(7, {}, shape.wide).bytes());
    const Block dump = read_whole(full, shape);
    RegisterTracker tracker(shape);
    WordState words;
    std::vector<uint32_t> changed;
    tracker.apply(dump, changed);
    words.apply(dump, shape);
    const size_t registers = WordMap::of(shape).layout().registers.size();
    each_changed_position(shape, [&](const Block& block) {
      tracker.apply(block, changed);
      words.apply(block, shape);
      for (const WordState& one : {tracker.words(), words}) {
        ASSERT_EQ(one.valid.count(), shape.words);
        ASSERT_EQ(one.tid, 7u);
      }
      for (const uint32_t index : changed) ASSERT_LT(index, registers);
      for (const uint16_t word : tracker.repeated()) ASSERT_LT(word, shape.words);
    });
  }
}

/// As many entries as there may be; none of them says that it changed, and none does.
std::string many_entries(const std::string& opcode) {
  test::RawBlock block;
  block.opcode = opcode;
  for (uint64_t i = 0; i < kMemoryMax; ++i) block.entries.push_back({0x1000 + 8 * i, i, {}, 0});
  return block.bytes();
}

/// The block, all of whose entries say that they changed, once it was read: it has no room for
/// what they would have changed to.
Block changed_flags(Fenced& fenced) {
  const Block block = read_whole(fenced.bytes(), kX64);
  std::memset(fenced.data() + (block.memory_flags - fenced.data()), 0, block.memory_count);
  return block;
}

TEST(Trace64Changed, FlagsThatAreOthersWhenTheyAreUsed) {
  for (const std::string opcode : {"\x90", "\x50", "\xa4"}) {  // nop, push, movsb
    Fenced fenced(many_entries(opcode));
    const Block block = changed_flags(fenced);
    const Bytes all = fenced.bytes();
    WordState state;
    machine::InstructionDecoder decoder(true);
    MemoryContext context;
    context.state = &state;
    context.instruction = &decoder.decode(block.opcode);
    Batch batch;
    std::vector<Step::MemoryAccess> accesses;
    MemoryReader(kX64, block, context, batch).read(accesses);
    EXPECT_EQ(accesses.size(), kMemoryMax);
    uint64_t sum = 0;
    for (const Step::MemoryAccess& one : accesses)
      for (const Bytes bytes : {one.old_bytes, one.new_bytes})
        for (const uint8_t byte : bytes) sum += byte;  // what lies behind the block cannot be read
    EXPECT_GT(sum, 0u);
    PushJudge judge(kX64);
    judge.add(block);
    EXPECT_TRUE(all.data() <= block.new_words && block.new_words <= all.data() + all.size());
  }
}

/// The flags are what they were again when they are compared, and were not when they were counted.
TEST(Trace64Changed, EntriesAreComparedWithinTheBlock) {
  Fenced fenced(many_entries("\x90"));
  const Block block = changed_flags(fenced);
  MemoryEntries entries;
  entries.count = block.memory_count;
  for (uint32_t i = 0; i < entries.count; ++i) {
    entries.flags[i] = 0;
    entries.address[i] = 0x1000 + 8 * uint64_t{i};
    entries.old_word[i] = entries.new_word[i] = i;
  }
  EXPECT_FALSE(entries.same_as(kX64, block));
}

}  // namespace
}  // namespace tracewell::formats::trace64
