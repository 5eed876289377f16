// Files that are right by the description of the format are read as they are written, whatever else
// they might be taken for: ids of threads that have not changed, opcodes of no bytes, more accesses
// than x64dbg records.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/coherent.h"
#include "formats/trace64/random_files.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

/// Word `word` of a dump, as the register that it is read as; only the first eighteen.
uint64_t word_of(const RegisterState& state, const RegisterLayout& layout, bool wide,
                 uint32_t word) {
  static constexpr const char* k64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
  static constexpr const char* k32[] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};
  const std::string name = word < 8 ? (wide ? k64 : k32)[word] : fmt::format("r{}", word);
  const Register* const one = layout.find(name);
  return load_uint(state.block.data() + one->offset, one->size_bytes, Endian::Little);
}

/// Is each byte of each entry told, with what was there before where that is known?
bool same_entries(const Known& step, const CoherentStep& written, bool wide) {
  const uint64_t word = wide ? 8 : 4;
  for (const Entry& entry : written.entries) {
    for (uint64_t i = 0; i < word; ++i) {
      const auto tells = [&](const auto& access) {
        const auto& [address, kind, size, before, after] = access;
        const uint64_t at = entry.address + i - address;
        if (at >= size) return false;
        return before.empty() || before[at] == static_cast<char>(entry.old_word >> 8 * i);
      };
      if (std::ranges::none_of(step.memory, tells)) return false;
    }
  }
  return true;
}

void expect_as_written(const std::string& file, const std::vector<CoherentStep>& steps,
                       bool wide, bool whole_words = true) {
  Opened opened(file, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), 0u)
      << opened.problems->kept()[0].text;
  const RegisterLayout& layout = opened.source->catalog().registers;
  const std::vector<Known> got = all_steps(*opened.source);
  ASSERT_EQ(got.size(), steps.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].tid, steps[i].tid) << i;
    ASSERT_EQ(got[i].opcode, steps[i].opcode) << i;
    ASSERT_EQ(got[i].pc, steps[i].words[wide ? 16 : 8]) << i;
    for (uint32_t word = 0; word < 8; ++word)
      ASSERT_EQ(word_of(got[i].before, layout, wide, word), steps[i].words[word]) << i;
    if (whole_words) {
      ASSERT_TRUE(same_entries(got[i], steps[i], wide)) << i;
    }
  }
}

TEST(Trace64AsWritten, AnIdThatIsStoredAgain) {
  // The smallest case: three steps of thread 7.
  const std::string bytes =
      kHead64 + full_block(7, {{16, 0x401000}}).bytes() +
      text_from_hex("00010081" "07000000" "90" "10" "0110400000000000").value() +
      text_from_hex("00010001" "90" "10" "0210400000000000").value();
  const ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 3u);
  EXPECT_EQ(got.tids, (std::vector<uint64_t>{7, 7, 7}));
  EXPECT_EQ(got.steps[2].pc, 0x401002u);
  EXPECT_EQ(got.bad(), 0u);
  EXPECT_EQ(got.problems("hidden-thread-id"), 0u);
}

struct Repeats {
  uint32_t percent, each;
};
class Trace64Repeats : public ::testing::TestWithParam<Repeats> {};

Liberties liberties(uint64_t seed, const Repeats& repeats) {
  Liberties how;
  how.wide = seed % 4 != 3;
  how.threads = 1 + seed / 4 % 4;
  how.switch_percent = how.threads == 1 ? 0 : static_cast<uint32_t>(seed / 16 % 4 * 7);
  how.repeat_percent = repeats.percent;
  how.repeat_each = repeats.each;
  how.user_percent = seed % 3 == 0 ? 5 : 0;
  how.dump_every = seed % 5 == 0 ? 0 : seed % 5 == 1 ? 100 : 512;
  return how;
}

TEST_P(Trace64Repeats, AreReadAsWritten) {
  for (uint64_t seed = 0; seed < 400 && !HasFailure(); seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    const Liberties how = liberties(seed, GetParam());
    CoherentTrace trace(seed * 6 + GetParam().percent, how);
    trace.run(100 + seed % 7 * 60);
    expect_as_written(trace.file(), trace.steps(), how.wide);
  }
}
INSTANTIATE_TEST_SUITE_P(Percent, Trace64Repeats,
                         ::testing::Values(Repeats{0, 0}, Repeats{6, 0}, Repeats{15, 0},
                                           Repeats{50, 0}, Repeats{100, 0}, Repeats{0, 16}));

class Trace64Unusual : public ::testing::TestWithParam<Repeats> {};

/// Opcodes of no bytes, up to 255 accesses, a thread whose id is 0: read, and kept by whatever
/// keeps the rest.
TEST_P(Trace64Unusual, AreReadAsWrittenAndKept) {
  for (uint64_t seed = 0; seed < 90 && !HasFailure(); seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    Liberties how = liberties(seed, GetParam());
    how.bare_percent = 8;
    how.crowd_percent = 2;
    how.first_tid = seed % 2 == 0 ? 0 : 0x1a4;
    CoherentTrace trace(seed, how);
    trace.run(150);
    const std::string file = trace.file();
    expect_as_written(file, trace.steps(), how.wide);
    expect_as_written(converted(file, "trace64"), trace.steps(), how.wide);
    expect_as_written(converted(converted(file, "jsonl"), "trace64"), trace.steps(), how.wide);
  }
}
INSTANTIATE_TEST_SUITE_P(Percent, Trace64Unusual,
                         ::testing::Values(Repeats{0, 0}, Repeats{15, 0}, Repeats{0, 16}));

TEST(Trace64AsWritten, HasNoteOfWhatX64dbgDoesNotRead) {
  const std::string dump = full_block(0, {{16, 0x401000}}).bytes();
  RawBlock crowd;
  for (uint64_t i = 0; i < 255; ++i)
    crowd.entries.push_back({0x1000 + 16 * i, i, i % 2 == 0 ? std::optional(i + 1) : std::nullopt,
                             0});
  RawBlock bare;
  bare.opcode = "";
  bare.words = {{0, 5}};
  const std::string bytes = kHead64 + dump + crowd.bytes() + bare.bytes() + RawBlock{}.bytes();
  const ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 4u);
  EXPECT_EQ(got.steps[1].memory.size(), 255u);
  EXPECT_EQ(got.problems("many-accesses"), 1u);
  EXPECT_EQ(got.problems("no-opcode"), 1u);
  EXPECT_EQ(got.bad(), 0u);
  EXPECT_EQ(got.value(got.steps[1].registers, "rax"), 5u);
  const ReadBack again(converted(converted(bytes, "jsonl"), "trace64"));
  ASSERT_EQ(again.steps.size(), 4u);
  EXPECT_EQ(again.steps[1].memory.size(), 255u);
  EXPECT_TRUE(again.steps[2].opcode.empty());
  // An index beside the file has the same.
  Opened opened(bytes, "trace64");
  const auto notes = opened.source->reader_notes()->notes();
  OpenOptions options;
  bool refused = false;
  options.notes = {notes, bytes.size()};
  options.notes_refused = [&] { refused = true; };
  const Opened noted(bytes, "trace64", options);
  EXPECT_FALSE(refused);
  EXPECT_EQ(noted.source->steps()->count(), 4u);
}

/// Steps that are four zeros each: a written file has no page of them, and does not end in them.
TEST(Trace64AsWritten, StepsOfZerosAreWrittenSoThatTheyAreRead) {
  const std::string dump = full_block(0, {{16, 0x401000}}).bytes();
  const std::string with_id = text_from_hex("00000080" "00000000").value();
  for (const size_t zeros : {1, 300, 511, 512, 1000, 1023}) {
    SCOPED_TRACE(zeros);
    std::string text = converted(kHead64 + dump + std::string(4 * zeros, '\0') + with_id, "jsonl");
    text.resize(text.rfind('\n', text.size() - 2) + 1);  // without the step that has an id
    EXPECT_EQ(ReadBack(converted(text, "trace64")).steps.size(), zeros + 1);
  }
  // More of them than a file may have side by side, with an id here and there.
  std::string many = kHead64 + dump;
  for (int i = 0; i < 9; ++i)
    many += std::string(1600, '\0') + with_id;
  const ReadBack got(many);
  ASSERT_EQ(got.steps.size(), 9u * 401 + 1);
  const ReadBack again(converted(converted(many, "jsonl"), "trace64"));
  EXPECT_EQ(again.steps.size(), got.steps.size());
  EXPECT_EQ(again.bad(), 0u);
}

std::string fact(const Opened& opened, const std::string& name) {
  for (const auto& [key, value] : opened.source->summary()->facts())
    if (key == name) return value;
  return "";
}

TEST(Trace64AsWritten, APageOfZerosIsAGapAndFewerAreSteps) {
  std::string front = kHead64 + full_block(4, {{16, 0x401000}}).bytes();
  while (front.size() < 3000) {
    RawBlock step;
    step.words = {{16, 0x401000 + front.size()}};
    front += step.bytes();
  }
  const std::string behind = full_block(4, {{16, 0x402000}}).bytes() + RawBlock{}.bytes();
  const uint64_t steps = ReadBack(front).steps.size();
  const size_t to_page = 4096 - front.size() % 4096;
  // A few, many that cover no page that is aligned, and that page.
  for (const size_t zeros : {size_t{4}, size_t{400}, size_t{4096}, to_page + 4095 - 3}) {
    SCOPED_TRACE(zeros);
    const size_t all = zeros / 4 * 4;
    const ReadBack got(front + std::string(all, '\0') + behind);
    EXPECT_EQ(got.steps.size(), steps + all / 4 + 2);
    EXPECT_EQ(got.bad(), 0u);
    EXPECT_TRUE(got.lost.empty());
    EXPECT_EQ(fact(got.opened, "reading"), "as written");
    EXPECT_EQ(fact(got.opened, "zero_pages"), "");
    if (all > to_page) continue;
    EXPECT_EQ(ReadBack(front + std::string(all, '\0')).steps.size(), steps + all / 4);
  }
  for (const size_t zeros : {to_page + 4096, to_page + 9001, size_t{70000}}) {
    SCOPED_TRACE(zeros);
    const std::string bytes = front + std::string(zeros, '\0') + behind;
    const ReadBack got(bytes);
    EXPECT_EQ(got.steps.size(), steps + 2);
    EXPECT_EQ(got.lost, std::vector<uint64_t>{steps});
    EXPECT_EQ(got.problems("broken-block"), 1u);
    EXPECT_EQ(fact(got.opened, "zero_pages"), "taken for gaps in 1 place");
    const ReadBack tail(front + std::string(zeros, '\0'));
    EXPECT_EQ(tail.steps.size(), steps);
    EXPECT_EQ(tail.problems("zero-tail"), 1u);
    EXPECT_EQ(fact(tail.opened, "zero_pages"), "taken for gaps in 1 place");
  }
}

/// Up to a little in front of the file's second page.
std::string up_to_page(const RawBlock& last) {
  std::string out = kHead64 + full_block(4, {{16, 0x401000}}).bytes();
  while (out.size() < 4096 - 44) out += RawBlock{}.bytes();
  return out + last.bytes();
}

TEST(Trace64AsWritten, TheLastPageIsWholeWhereTheFileEnds) {
  const std::string front = up_to_page({});
  const uint64_t steps = ReadBack(front).steps.size();
  const size_t to_page = 4096 - front.size();
  ASSERT_LT(to_page, 60u);
  // Up to the page; and a little further, as a recorder may have written it.
  for (const size_t zeros : {to_page / 4 * 4, size_t{60}}) {
    const ReadBack got(front + std::string(zeros, '\0'));
    EXPECT_EQ(got.steps.size(), steps + zeros / 4);
    EXPECT_EQ(got.bad(), 0u);
    EXPECT_EQ(fact(got.opened, "zero_pages"), "");
  }
  for (const size_t zeros : {size_t{64}, size_t{1000}, size_t{4000}}) {
    SCOPED_TRACE(zeros);
    const ReadBack got(front + std::string(zeros, '\0'));
    EXPECT_EQ(got.steps.size(), steps);
    EXPECT_EQ(got.problems("zero-tail"), 1u);
    EXPECT_EQ(got.lost, std::vector<uint64_t>{steps});
    EXPECT_EQ(fact(got.opened, "reading"), "as written");
    EXPECT_EQ(fact(got.opened, "zero_pages"), "taken for gaps in 1 place");
  }
}

TEST(Trace64AsWritten, ZerosThatTheFileGoesOnBehindAreSteps) {
  RawBlock ends_in_zeros;
  ends_in_zeros.words = {{0, 0}};
  for (const RawBlock& last : {RawBlock{}, ends_in_zeros}) {
    const std::string front = up_to_page(last), zeros(1000, '\0');
    const uint64_t steps = ReadBack(front).steps.size();
    const Opened opened(front + zeros, "trace64");
    StepIndex& index = *opened.source->steps();
    EXPECT_EQ(index.count(), steps - last.words.size()) << "of that, a part may be missing";
    write_file(opened.folder->file("input"), front + zeros + RawBlock{}.bytes());
    ASSERT_TRUE(index.refresh().ok());
    EXPECT_EQ(index.count(), steps + zeros.size() / 4 + 1);
    EXPECT_EQ(fact(opened, "zero_pages"), "");
    EXPECT_EQ(ReadBack(front + zeros + RawBlock{}.bytes()).steps.size(), index.count());
  }
}

TEST(Trace64AsWritten, AUserBlockMayHoldPagesOfZeros) {
  const std::string user = "\x80" + le(20000, 4) + std::string(20000, '\0');
  const std::string bytes = kHead64 + full_block(4, {{16, 0x10}}).bytes() + user +
                            std::string(8, '\0') + RawBlock{}.bytes();
  const ReadBack got(bytes);
  EXPECT_EQ(got.steps.size(), 4u);
  EXPECT_EQ(got.bad(), 0u);
}

/// Whatever the end looked like while it was written.
TEST(Trace64AsWritten, AFileThatGrowsIsReadAsIfItHadAlwaysBeenThere) {
  for (uint64_t seed = 0; seed < 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Liberties how = liberties(seed, {15, 0});
    how.bare_percent = 5;
    CoherentTrace trace(seed, how);
    trace.run(60);
    const std::string bytes = trace.file();
    const size_t first = head(how.wide ? kJson64 : kJson32).size() + 1000;
    Opened opened(bytes.substr(0, first), "trace64");
    for (size_t size = first; size <= bytes.size(); size += 7 * tracewell::test::kEach) {
      write_file(opened.folder->file("input"), bytes.substr(0, size));
      ASSERT_TRUE(opened.source->steps()->refresh().ok());
    }
    write_file(opened.folder->file("input"), bytes);
    ASSERT_TRUE(opened.source->steps()->refresh().ok());
    EXPECT_EQ(opened.source->steps()->count(), trace.steps().size());
    EXPECT_EQ(fact(opened, "reading"), "as written");
    const std::vector<Known> got = all_steps(*opened.source);
    ASSERT_EQ(got.size(), trace.steps().size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].tid, trace.steps()[i].tid) << i;
      ASSERT_EQ(got[i].opcode, trace.steps()[i].opcode) << i;
    }
  }
}

/// Cut anywhere, such a file loses only what was cut.
TEST(Trace64AsWritten, ACutInventsNothing) {
  for (uint64_t seed = 0; seed < 24 && !HasFailure(); ++seed) {
    const Liberties how = liberties(seed, {50, 0});
    CoherentTrace trace(seed, how);
    trace.run(40);
    const std::string bytes = trace.file();
    const auto whole = ReadBack(bytes);
    for (size_t cut = 1; cut < 400; cut += (1 + seed % 3) * tracewell::test::kEach) {
      SCOPED_TRACE(fmt::format("seed {} cut {}", seed, cut));
      const ReadBack got(bytes.substr(0, bytes.size() - cut));
      EXPECT_EQ(got.problems("hidden-thread-id"), 0u);
      ASSERT_LE(got.steps.size(), whole.steps.size());
      for (size_t i = 0; i < got.steps.size(); ++i) ASSERT_EQ(got.tids[i], whole.tids[i]) << i;
    }
  }
}

}  // namespace
}  // namespace tracewell::formats::test
