// What is missing in a trace stays told when it is written again; so does what its pushes are like.
#include <gtest/gtest.h>

#include "formats/trace64/model.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

std::vector<std::string> losses(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  while (*source.next(batch))
    for (const Event& event : batch.events())
      if (const auto* lost = std::get_if<Lost>(&event.body))
        out.push_back(std::to_string(event.seq) + ' ' + std::string(lost->why));
  return out;
}

std::string repaired(const std::string& bytes, bool compat) {
  Opened opened(bytes, "trace64");
  return saved(*opened.source, {.compat = compat, .sound = true, .style = ""});
}

/// 1799 steps, of which those from 700 to 1023 are damaged_file.
std::string damaged_file() {
  RandomProgram program(6, true, 1, 0);
  const auto moments = program.run(1800);
  const size_t at = record({moments.begin(), moments.begin() + 701}, {}).size();
  return kHead64 + record(moments, {}).replace(at, 3, "\x05\x05\x05");
}

TEST(Trace64, AGapStaysAGapWhenItIsWritten) {
  const std::string bytes = damaged_file();
  const ReadBack before(bytes);
  ASSERT_EQ(before.lost.size(), 1u);
  const ReadBack after(repaired(bytes, false));
  EXPECT_EQ(after.lost, before.lost);
  EXPECT_EQ(after.bad(), 0u) << "it is no damage any more";
  EXPECT_EQ(after.problems("missing-steps"), 1u);
  ASSERT_EQ(after.steps.size(), before.steps.size());
  const size_t last = before.lost[0] - 1;
  EXPECT_FALSE(after.steps[last].after_known) << "what came next is another story";
  EXPECT_TRUE(after.steps[last].registers.empty());
  Opened one(bytes, "trace64"), other(repaired(bytes, false), "trace64");
  EXPECT_EQ(losses(*one.source), losses(*other.source));
  for (uint64_t seq = 0; seq < before.steps.size(); seq += 7) {
    StepIndex::Moment was, is;
    ASSERT_TRUE(one.source->steps()->state_before(seq, was).ok());
    ASSERT_TRUE(other.source->steps()->state_before(seq, is).ok());
    EXPECT_EQ(was.registers.block, is.registers.block) << seq;
  }
  // Once more, and by another format, changes nothing.
  EXPECT_TRUE(rewritten(repaired(bytes, false)) == repaired(bytes, false));
  EXPECT_TRUE(converted(converted(repaired(bytes, false), "jsonl"), "trace64") ==
              repaired(bytes, false));
}

TEST(Trace64, AGapIsASessionToThoseBeforeUserBlocks) {
  const ReadBack before(damaged_file()), after(repaired(damaged_file(), true));
  ASSERT_EQ(before.lost.size(), 1u);
  EXPECT_TRUE(after.lost.empty());
  EXPECT_EQ(after.sessions, before.lost);
  EXPECT_EQ(after.bad(), 0u);
}

/// Steps of jsonl with such reasons between the two, as trace64.
struct Rewritten {
  explicit Rewritten(const std::vector<std::string>& reasons) {
    const std::string step =
        R"({"kind":"step","tid":1,"pc":"0x1000","opcode":"90","before":{"rip":"0x1000"}})";
    std::string text = "{\"catalog\":{\"machine\":\"x86-64\"}}\n" + step + "\n";
    for (const std::string& one : reasons)
      text += R"({"kind":"lost","why":")" + one + "\"}\n";
    Opened opened(text + step + "\n", "jsonl");
    EXPECT_TRUE(opened.source) << opened.error;
    TempFolder folder;
    auto sink = find_format("trace64")->create(*OutputFile::create(folder.file("out")), {});
    EXPECT_TRUE(pump(*opened.source, **sink).ok());
    bytes = read_file(folder.file("out"));
    left_out = (*sink)->left_out();
  }
  std::string bytes;
  std::vector<std::string> left_out;
};

TEST(Trace64, ReasonsOfOnePlaceAreToldOnceAndBounded) {
  const Rewritten few({"", "one", "two", "one", "", "three; four", "two"});
  Opened opened(few.bytes, "trace64");
  EXPECT_EQ(losses(*opened.source), std::vector<std::string>{"1 one; two; three; four"});
  EXPECT_TRUE(few.left_out.empty());
  std::vector<std::string> reasons;
  for (int i = 0; i < 20'000; ++i) reasons.push_back("reason number " + std::to_string(i));
  const Rewritten many(reasons);
  Opened bounded(many.bytes, "trace64");
  const auto told = losses(*bounded.source);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].starts_with("1 reason number 0; reason number 1; "));
  EXPECT_LT(told[0].size(), 2000u);
  ASSERT_EQ(many.left_out.size(), 1u);
  // What the file says; its readers show less of a long text.
  const size_t begin = many.bytes.find("reason number 0; ");
  const std::string text = many.bytes.substr(begin);
  EXPECT_LT(text.size(), 4000u) << "and a step; all of them have 500 KB";
  uint64_t said = 0;
  for (size_t at = text.find("reason "); at != text.npos; at = text.find("reason ", at + 1)) ++said;
  EXPECT_EQ(many.left_out[0].substr(0, many.left_out[0].find(',')),
            std::to_string(20'000 - said) +
                " reasons why instructions are missing are left out");
  const std::string long_one(5000, 'x');
  EXPECT_NE(Rewritten({long_one, "y"}).bytes.find(long_one), std::string::npos) << "as a whole";
}

TEST(Trace64, ALossAtTheEndIsWrittenToo) {
  const std::string bytes = kHead64 + full_block(1, {{16, 0x10}}).bytes() + "\x05" +
                            std::string(40, '\x11');
  Opened before(bytes, "trace64"), after(repaired(bytes, false), "trace64");
  const auto lost = losses(*before.source);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(losses(*after.source), lost);
}

// A push whose old content the source knows, and nothing else that would tell a reader so.
constexpr const char* kPush =
    R"({"catalog":{"endian":"little","machine":"x86-64"}}
{"seq":0,"kind":"step","tid":1,"pc":"0x401000","opcode":"50","before":{"rax":"0x2a",)"
    R"("rsp":"0x1008"},"registers":{"rsp":"0x1000"},"memory":[{"addr":"0x1000","size":8,)"
    R"("access":"write","old":"1111111111111111","new":"2a00000000000000"}]}
{"seq":1,"kind":"step","tid":1,"pc":"0x401001","opcode":"90"}
)";

TEST(Trace64, OldContentsOfPushesFromElsewhereArriveAsTheyAre) {
  const std::string bytes = converted(kPush, "trace64");
  const ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 2u);
  ASSERT_EQ(got.steps[0].memory.size(), 1u);
  EXPECT_EQ(got.steps[0].memory[0].address, 0x1000u);
  EXPECT_EQ(to_hex(got.steps[0].memory[0].old_bytes), "1111111111111111");
  EXPECT_EQ(rewritten(bytes), bytes);
}

TEST(Trace64, ASliceKnowsItsPushesAsTheWholeDoes) {
  // The second push shows what the first is like; the slice has only that.
  RawBlock one = full_block(4, {{0, 0x2a}, {3, 7}, {4, 0x7ff000}, {16, 0x401000}});
  one.opcode = "\x50";
  one.entries = {{0x7feff8, 0x170000, 0x2a, 0}};
  for (const uint64_t second : {0x99u, 0x2au}) {
    RawBlock two;
    two.words = {{4, 0x7feff8}, {16, 0x401001}};
    two.opcode = "\x53";
    two.entries = {{0x7feff0, second, 7, 0}};
    Opened whole(kHead64 + one.bytes() + two.bytes(), "trace64");
    Batch batch;
    ASSERT_TRUE(*whole.source->next(batch));
    ListSource first(whole.source->catalog(), batch.events().first(1));
    const std::string bytes = written(first, "trace64");
    const ReadBack slice(bytes), all(kHead64 + one.bytes() + two.bytes());
    ASSERT_EQ(slice.steps.size(), 1u);
    const auto &got = slice.steps[0].memory, &want = all.steps[0].memory;
    ASSERT_EQ(got.size(), want.size()) << second;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].address, want[i].address);
      EXPECT_EQ(to_hex(got[i].old_bytes), to_hex(want[i].old_bytes));
    }
    EXPECT_EQ(rewritten(bytes), bytes);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
