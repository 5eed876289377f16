// Hits look at vector registers where they are, with others of them as room to work in: whatever is
// in use, what they tell is what was there, and nothing is changed, not even what is in use.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <random>

#include <ucontext.h>

#include "base/endian.h"
#include "fast/hit_here.h"
#include "fast/this_processor.h"
#include "fast/vector_state.h"

namespace tracewell::fast {
namespace {

constexpr size_t kBitsAt = 512, kMxcsrAt = 24;

/// What XSAVEC stores: in whole, or a part of it that XRSTOR takes.
struct alignas(64) Image {
  std::array<uint8_t, TRACEWELL_VECTOR_BYTES> bytes{};
  uint64_t in_use() const { return load_uint(&bytes[kBitsAt], 8, Endian::Little); }
};

struct Seen {
  Image before, after;
  uint32_t in_use_before = 0, in_use_after = 0;
};

/// With all vector state as in `image` it runs `slot`, which ends with a return.
__attribute__((noinline, no_sanitize("all"))) void hit(uint64_t slot, uint64_t components,
                                                       const Image& image, Seen& seen) {
  Image own;
  __asm__ volatile(
      "lea -256(%%rsp), %%rsp\n"
      "mov %[low], %%eax\n xor %%edx, %%edx\n xsavec64 (%[own])\n xrstor64 (%[image])\n"
      "xsavec64 (%[before])\n"
      "mov $1, %%ecx\n xgetbv\n mov %%eax, (%[in_use_before])\n"
      "call *%[slot]\n"
      "mov $1, %%ecx\n xgetbv\n mov %%eax, (%[in_use_after])\n"
      "mov %[low], %%eax\n xor %%edx, %%edx\n xsavec64 (%[after])\n xrstor64 (%[own])\n"
      "lea 256(%%rsp), %%rsp\n"
      :
      : [slot] "r"(slot), [low] "r"(static_cast<uint32_t>(components)), [own] "r"(&own),
        [image] "r"(&image), [before] "r"(&seen.before), [after] "r"(&seen.after),
        [in_use_before] "r"(&seen.in_use_before), [in_use_after] "r"(&seen.in_use_after)
      : "rax", "rcx", "rdx", "memory", "cc");
}

class VectorRegisters : public ::testing::TestWithParam<bool> {
 protected:
  Image any_image() {
    Image out;
    for (uint8_t& byte : out.bytes) byte = static_cast<uint8_t>(random_());
    std::fill_n(&out.bytes[kBitsAt], kHeaderEnd - kBitsAt, 0);
    constexpr uint64_t kMostly = kSse | kOpmask | kHigh16;
    const uint64_t in_use = std::array{kMostly, kMostly | kAvx, random_()}[random_() % 3];
    store_uint(&out.bytes[kBitsAt], in_use & here_.components, 8, Endian::Little);
    store_uint(&out.bytes[kBitsAt + 8], here_.components | uint64_t{1} << 63, 8, Endian::Little);
    store_uint(out.bytes.data(), 0x37f, 8, Endian::Little);  // no exceptions, or they would come
    std::fill_n(&out.bytes[8], 16, 0);
    store_uint(&out.bytes[kMxcsrAt], 0x1f80 | (random_() & 0x603f), 4, Endian::Little);
    return out;
  }
  /// In one byte of what is in use, or in what that is.
  void change(Image& image) {
    if (random_() % 16 == 0) {
      store_uint(&image.bytes[kBitsAt], image.in_use() & ~(random_() % 2 != 0 ? kOpmask : kHigh16),
                 8, Endian::Little);
      return;
    }
    std::vector<const tracewell_vector_part*> some;
    for (const tracewell_vector_part& part : here_.parts)
      if ((part.component & image.in_use()) != 0 && part.offset >= 32) some.push_back(&part);
    if (random_() % 8 == 0 || some.empty()) {
      image.bytes[kMxcsrAt] ^= 1 << random_() % 6;
      return;
    }
    const tracewell_vector_part& part = *some[random_() % some.size()];
    const size_t at = part.offset + random_() % part.bytes;
    if (part.component != kX87 || at % 16 < 10) image.bytes[at] ^= 1 << random_() % 8;
  }

  ThisProcessor here_;
  std::mt19937_64 random_{11};
};

TEST_P(VectorRegisters, AreToldAndNotChanged) {
  if (!here_.has_xsavec) GTEST_SKIP() << "XSAVEC or XGETBV with 1 is missing";
  HitsHere here;
  set_vectors(here.geometry(), here_.parts, GetParam() ? here_.direct : 0);
  const auto code = axjit::hit_slot(
      here.add(1, {{.kind = TRACEWELL_STEP_VECTOR, .value = here_.components,
                    .bytes = here_.bytes}}));
  const uint64_t slot = here.take(64);
  std::ranges::copy(code, reinterpret_cast<uint8_t*>(slot));
  *reinterpret_cast<uint8_t*>(slot + code.size()) = 0xc3;  // ret
  VectorState state(here_.parts, here_.components);
  Image image = any_image();
  Seen seen;
  for (int i = 0; i < 60000; ++i) {
    if (random_() % 16 == 0) image = any_image();
    if (random_() % 4 == 0) change(image);
    hit(slot, here_.components, image, seen);
    const auto records = here.records();
    ASSERT_EQ(records.size(), 1U);
    const auto block = RecordBlocks(records[0].blocks).next();
    ASSERT_TRUE(block && block->kind == RecordBlock::Kind::VectorChange);
    const Bytes told = state.apply(*block);
    ASSERT_EQ(told.size(), here_.bytes);
    // When threads are switched, x87 and SSE come to be in use, and upper halves without lower
    // ones become all of it.
    constexpr uint64_t kAny = kX87 | kSse;
    const uint64_t halves = seen.before.in_use() & (kSse | kAvx | kZmmHigh);
    if (halves < kAvx || halves == (kSse | kAvx) || halves == (kSse | kAvx | kZmmHigh)) {
      ASSERT_EQ(seen.in_use_before | kAny, seen.in_use_after | kAny) << i;
      ASSERT_EQ(seen.before.in_use() | kAny, seen.after.in_use() | kAny) << i;
      ASSERT_EQ(load_uint(&told[kBitsAt], 8, Endian::Little) | kAny, seen.before.in_use() | kAny)
          << i;
    }
    for (const tracewell_vector_part& part : here_.parts) {
      if ((part.component & seen.before.in_use()) == 0) continue;
      const uint8_t* const was = &seen.before.bytes[part.offset];
      ASSERT_EQ(std::memcmp(was, &seen.after.bytes[part.offset], part.bytes), 0)
          << i << " changed at " << part.offset;
      ASSERT_EQ(std::memcmp(was, &told[part.offset], part.bytes), 0)
          << i << " told wrong at " << part.offset;
    }
  }
}

/// Who writes over the states that hits compare with, behind each instruction of theirs.
tracewell_vectors* written_over = nullptr;
constexpr greg_t kTrapFlag = 0x100;

void write_over(int, siginfo_t*, void* context) {
  auto* const bytes = reinterpret_cast<volatile uint8_t*>(written_over);
  for (size_t i = 64; i < 1024; ++i) bytes[i] = 0x5a;
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* const code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  if (code[0] == 0xc3 && code[1] == 0xf1) registers[REG_EFL] &= ~kTrapFlag;
}

/// What hits keep meanwhile of the registers that they work in is nobody else's.
TEST_P(VectorRegisters, AreNotChangedByWhoWritesOverTheArea) {
  if (!here_.has_xsavec) GTEST_SKIP() << "XSAVEC or XGETBV with 1 is missing";
  HitsHere here({.rings = 1, .ring_bytes = 1 << 20});
  set_vectors(here.geometry(), here_.parts, GetParam() ? here_.direct : 0);
  written_over = reinterpret_cast<tracewell_vectors*>(here.memory().data() +
                                                      here.shape().vectors_offset());
  const auto slot = axjit::hit_slot(
      here.add(1, {{.kind = TRACEWELL_STEP_VECTOR, .value = here_.components,
                    .bytes = here_.bytes}}));
  std::vector<uint8_t> code = {0x9c, 0x81, 0x0c, 0x24, 0, 1, 0, 0, 0x9d};  // sets the trap flag
  code.resize(16, 0x90);
  code.insert(code.end(), slot.begin(), slot.end());
  code.insert(code.end(), {0xc3, 0xf1});  // ret, and what marks it
  const uint64_t begin = here.take(64);
  std::ranges::copy(code, reinterpret_cast<uint8_t*>(begin));
  struct sigaction steps {}, before {};
  steps.sa_sigaction = write_over;
  steps.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &steps, &before);
  Seen seen;
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const Image image = any_image();
    hit(begin, here_.components, image, seen);
    EXPECT_EQ(here.records().size(), 1U);
    for (const tracewell_vector_part& part : here_.parts) {
      if ((part.component & seen.before.in_use()) == 0) continue;
      EXPECT_EQ(std::memcmp(&seen.before.bytes[part.offset], &seen.after.bytes[part.offset],
                            part.bytes), 0)
          << i << " changed at " << part.offset;
    }
  }
  sigaction(SIGTRAP, &before, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Fast, VectorRegisters, ::testing::Values(false, true));

}  // namespace
}  // namespace tracewell::fast
