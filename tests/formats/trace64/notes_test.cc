// What a reader notes of an x64dbg trace for the next one: with it, everything is as without.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/varint.h"
#include "formats/trace64/blocks/user.h"
#include "formats/trace64/model.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

using tracewell::test::kEach;

std::vector<uint8_t> notes_of(const Opened& opened) {
  const auto* noted = opened.source->reader_notes();
  return noted != nullptr ? noted->notes() : std::vector<uint8_t>();
}

struct Again {
  Again(const std::string& bytes, const std::vector<uint8_t>& notes, uint64_t noted_bytes)
      : opened(bytes, "trace64", options(notes, noted_bytes)) {}
  OpenOptions options(const std::vector<uint8_t>& notes, uint64_t noted_bytes) {
    OpenOptions out;
    out.notes = {notes, noted_bytes};
    out.notes_refused = [this] { refused = true; };
    return out;
  }
  bool refused = false;
  Opened opened;
};

std::string lines_of(const ProblemLog& log) {
  std::string out;
  for (const Problem& one : log.kept())
    out += fmt::format("{} {} {} {}\n", one.offset.value_or(UINT64_MAX),
                       severity_name(one.severity), one.code, one.text);
  for (const auto severity :
       {Problem::Severity::Note, Problem::Severity::Warning, Problem::Severity::Damage})
    out += fmt::format("{} ", log.count(severity));
  return out;
}

/// All that opening a file tells.
std::string told_by(const Opened& opened) {
  const StepIndex& steps = *opened.source->steps();
  const Summary& summary = *opened.source->summary();
  std::string out = fmt::format("{} steps, {} threads\n", steps.count(), summary.thread_count());
  for (const auto& [name, value] : summary.facts()) out += name + ": " + value + "\n";
  const Catalog& catalog = opened.source->catalog();
  for (const auto& [name, value] : catalog.extras) out += name + value + "\n";
  for (const Module& one : catalog.modules)
    out += fmt::format("{} {:#x} {:#x} {}\n", one.path, one.bias, one.start, one.size_bytes);
  for (const auto& one : catalog.notes) out += fmt::format("{} {}\n", one.step, one.text);
  for (const uint64_t one : steps.keyframes()) out += fmt::format("{} ", one);
  for (const uint64_t one : steps.sessions()) out += fmt::format("{} ", one);
  return out + "\n" + lines_of(*opened.problems);
}

void expect_same(const std::string& bytes, const std::vector<uint8_t>& notes,
                 uint64_t noted_bytes, bool events) {
  Opened fresh(bytes, "trace64");
  Again again(bytes, notes, noted_bytes);
  ASSERT_TRUE(fresh.source && again.opened.source);
  EXPECT_FALSE(again.refused);
  EXPECT_EQ(told_by(again.opened), told_by(fresh));
  EXPECT_TRUE(notes_of(again.opened) == notes_of(fresh));
  if (!events) return;
  EXPECT_TRUE(without_path(written(*again.opened.source, "jsonl")) ==
              without_path(written(*fresh.source, "jsonl")));
  EXPECT_EQ(lines_of(*again.opened.problems), lines_of(*fresh.problems));
}

/// A file with all that a scan may find: threads with the fault, sessions, user blocks, a long part
/// without full dumps, and damage.
std::string eventful(uint32_t seed, bool wide, size_t steps) {
  RandomProgram program(seed, wide, 3, 20);
  std::string out = head(wide ? kJson64 : kJson32);
  out += record(program.run(steps), {wide, true});
  out += "\x81" + le(5, 4) + "hello";
  out += record(program.run(700), {wide, true});
  auto damaged = record(program.run(2000), {wide, true});
  for (size_t i = 0; i < 300; ++i) damaged[damaged.size() / 2 + i] = static_cast<char>(i * seed);
  out += damaged;
  return out;
}

TEST(Trace64Notes, AllIsTheSameWithThem) {
  for (const bool wide : {true, false})
    for (uint32_t seed = 1; seed <= 6; seed += kEach) {
      const std::string bytes = eventful(seed, wide, 400 * seed);
      Opened opened(bytes, "trace64");
      const auto notes = notes_of(opened);
      ASSERT_FALSE(notes.empty());
      expect_same(bytes, notes, bytes.size(), true);
    }
}

/// In front of the first step: modules, one of which lacks its end, a note, somebody else's block.
std::string blocks_in_front() {
  const auto block = [](const std::string& data) { return "\xc0" + le(data.size(), 4) + data; };
  const auto own = [&](char kind, const std::string& data) {
    return block(std::string(trace64::kOwnSignature) + '\1' + kind + data);
  };
  const auto module = [&](const std::string& path, size_t less) {
    const std::string data = le(0, 8) + le(0x140000000, 8) + le(0x1000, 8) +
                             std::string(10, '\0') + static_cast<char>(path.size()) + path;
    return own('\7', data.substr(0, data.size() - less));
  };
  return module("C:\\a.exe", 0) + module("D:\\one.dll", 0) + module("D:\\two.dll", 3) +
         own('\1', "a note") + block("of somebody else");
}

/// Whichever byte of the first full dump is broken, and whether steps begin with a later one or
/// there are none then: what stands in front of them all is told.
TEST(Trace64Notes, AllIsTheSameWhereTheFirstFullDumpIsDamaged) {
  RandomProgram program(1, true, 1, 0);
  const std::string front = head(kJson64) + blocks_in_front();
  const std::string one = record(program.run(100), {true, false});
  const std::string more = record(program.run(300), {true, false});
  uint64_t lost = 0, without_steps = 0;
  for (const bool goes_on : {true, false})
    for (size_t at = 0; at < 1600; at += at < 12 ? 1 : 97 * kEach) {
      SCOPED_TRACE(fmt::format("byte {}", at));
      std::string bytes = front + one + (goes_on ? more : "");
      bytes[front.size() + at] = '\xff';
      const Opened opened(bytes, "trace64");
      ASSERT_TRUE(opened.source) << opened.error;
      const Catalog& catalog = opened.source->catalog();
      EXPECT_EQ(catalog.modules.size(), 2u);
      EXPECT_EQ(catalog.notes.size(), 1u);
      EXPECT_NE(lines_of(*opened.problems).find("module-cut"), std::string::npos);
      lost += lines_of(*opened.problems).find("broken-block") != std::string::npos ? 1 : 0;
      without_steps += opened.source->steps()->count() == 0 ? 1 : 0;
      expect_same(bytes, notes_of(opened), bytes.size(), true);
    }
  EXPECT_GT(lost, 4u);
  EXPECT_GT(without_steps, 2u);
}

TEST(Trace64Notes, AllIsTheSameOfCutAndDamagedSamples) {
  std::mt19937 random(7);
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    const std::string whole = sample(name);
    for (uint32_t round = 0; round < 30; round += kEach) {
      std::string bytes = whole;
      if (round % 2 != 0) bytes.resize(bytes.size() - random() % (bytes.size() / 2));
      if (round % 5 == 0) bytes.append(random() % 5000, '\0');
      for (uint32_t i = random() % 4; i > 0; --i)
        bytes[300 + random() % (bytes.size() - 300)] = static_cast<char>(random());
      Opened opened(bytes, "trace64");
      ASSERT_TRUE(opened.source) << opened.error;
      expect_same(bytes, notes_of(opened), bytes.size(), round < 10);
    }
  }
}

TEST(Trace64Notes, CheckpointsWithoutFullDumps) {
  std::string bytes = head(kJson64) + full_block(4, {{0, 1}}).bytes();
  RawBlock block;
  for (uint64_t i = 0; i < 20000; ++i) {
    block.words = {{static_cast<uint32_t>(i % 30), i}};
    bytes += block.bytes();
  }
  Opened opened(bytes, "trace64");
  EXPECT_GT(opened.source->steps()->keyframes().size(), 4u);
  expect_same(bytes, notes_of(opened), bytes.size(), true);
}

// With fewer keyframes than there are, whoever jumps would read the file from its begin.
TEST(Trace64Notes, WithoutKeyframesAreRefused) {
  std::string bytes = head(kJson64) + full_block(4, {{0, 1}}).bytes();
  RawBlock block;
  for (uint64_t i = 0; i < 5000; ++i) {
    block.words = {{static_cast<uint32_t>(i % 30), i}};
    bytes += block.bytes();
  }
  const Opened fresh(bytes, "trace64");
  ASSERT_EQ(fresh.source->steps()->keyframes().size(), 2u);
  const auto sound = notes_of(fresh);
  Cursor in{Bytes(sound).subspan(5)};
  for (int i = 0; i < 12; ++i) in.varint();
  in.take(in.varint());
  const size_t count_at = sound.size() - in.left();
  ASSERT_EQ(in.varint(), 2u);
  const auto pass_keyframe = [&] {
    const uint64_t bits = in.varint();
    for (int i = 0; i < 2; ++i) in.varint();
    for (const uint64_t bit : {4, 8, 32})
      if ((bits & bit) != 0) in.varint();
  };
  pass_keyframe();
  const size_t second_at = sound.size() - in.left();
  pass_keyframe();
  auto forged = sound;
  forged.erase(forged.begin() + static_cast<ptrdiff_t>(second_at),
               forged.end() - static_cast<ptrdiff_t>(in.left()));
  forged[count_at] = 1;
  Again again(bytes, forged, bytes.size());
  EXPECT_TRUE(again.refused);
  EXPECT_EQ(told_by(again.opened), told_by(fresh));
}

// Whatever the end looked like, the noted part of a file that has grown reads as if it had always
// been so long, and most of it is not looked at again.
TEST(Trace64Notes, HoldForAFileThatHasGrown) {
  for (const bool wide : {true, false}) {
    std::string bytes = head(wide ? kJson64 : kJson32);
    RandomProgram program(wide ? 5 : 6, wide, 3, 20);
    while (bytes.size() < 1'500'000) bytes += record(program.run(3000), {wide, true});
    std::mt19937 random(3);
    for (uint32_t round = 0; round < 12; round += kEach) {
      const size_t noted = bytes.size() - 1 - random() % 600'000;
      Opened before(bytes.substr(0, noted), "trace64");
      const auto notes = notes_of(before);
      expect_same(bytes, notes, noted, round == 0);
      // An early block that is damaged now is not seen.
      std::string damaged = bytes;
      damaged[damaged.size() / 4] ^= 0x55;
      damaged.replace(damaged.size() / 4, 64, 64, '\x7f');
      Again again(damaged, notes, noted);
      EXPECT_EQ(again.opened.source->steps()->count(),
                Opened(bytes, "trace64").source->steps()->count());
      EXPECT_FALSE(again.refused);
    }
  }
}

// Files too short for a place to go on from are looked through again.
TEST(Trace64Notes, OfAShortFileThatHasGrownAreOfNoUse) {
  const std::string bytes = sample("synthetic_single");
  for (size_t noted = bytes.size() - 1; noted > bytes.size() / 2; noted -= 4099) {
    Opened before(bytes.substr(0, noted), "trace64");
    expect_same(bytes, notes_of(before), noted, false);
  }
}

TEST(Trace64Notes, OfOtherVersionsAreRefused) {
  const std::string bytes = eventful(2, true, 800);
  const Opened opened(bytes, "trace64");
  const auto notes = notes_of(opened);
  ASSERT_TRUE(as_text(notes).starts_with("T64N7"));
  for (const char version : {'1', '2', '3', '4', '5', '6', '8'}) {
    auto other = notes;
    other[4] = static_cast<uint8_t>(version);
    const Again again(bytes, other, bytes.size());
    ASSERT_TRUE(again.opened.source) << version;
    EXPECT_TRUE(again.refused) << version;
    EXPECT_EQ(told_by(again.opened), told_by(opened)) << version;
  }
}

TEST(Trace64Notes, OfSomethingElseAreRefused) {
  const std::string bytes = sample("synthetic_single");
  RandomProgram program(1, false, 1, 0);
  Opened other(head(kJson32) + record(program.run(100), {false, false}), "trace64");
  const auto notes = notes_of(other);
  Opened fresh(bytes, "trace64");
  for (const uint64_t noted : {bytes.size(), bytes.size() + 1, size_t{0}}) {
    Again again(bytes, notes, noted);
    EXPECT_TRUE(again.refused);
    EXPECT_EQ(told_by(again.opened), told_by(fresh));
  }
}

/// Notes that end without a problem, with problems of these codes, kept or counted.
std::vector<uint8_t> with_codes(std::vector<uint8_t> notes, const std::vector<std::string>& codes,
                                bool kept) {
  EXPECT_EQ(std::vector<uint8_t>(notes.end() - 2, notes.end()), (std::vector<uint8_t>{0, 0}));
  notes.resize(notes.size() - 2);
  if (!kept) notes.push_back(0);
  append_varint(notes, codes.size());
  for (const std::string& code : codes) {
    if (kept) notes.push_back(2);  // a warning without a place
    append_varint(notes, code.size());
    notes.insert(notes.end(), code.begin(), code.end());
    if (kept) append_varint(notes, 0);
    if (!kept) notes.insert(notes.end(), {1, 7});
  }
  if (kept) notes.push_back(0);
  return notes;
}

// Who prints a code does not expect it to hold controls, and who counts codes expects a few.
TEST(Trace64Notes, CodesAreWordsAndFew) {
  RandomProgram program(1, false, 1, 0);
  const std::string bytes = head(kJson32) + record(program.run(100), {false, false});
  const auto sound = notes_of(Opened(bytes, "trace64"));
  std::vector<std::string> many;
  for (int i = 0; i < 1000; ++i) many.push_back(fmt::format("code-{}", i));
  const std::vector<std::string> few(many.begin(), many.begin() + 20);
  for (const bool kept : {true, false}) {
    SCOPED_TRACE(kept);
    Again fine(bytes, with_codes(sound, few, kept), bytes.size());
    EXPECT_FALSE(fine.refused);
    EXPECT_EQ(fine.opened.problems->count(), kept ? 20u : 140u);
    std::vector<std::vector<std::string>> refused = {many};
    for (const std::string& code : {std::string("x\x1b[31m"), std::string("a b"), std::string(),
                                    std::string("\xc2\x9b"), std::string("a\n"),
                                    std::string(41, 'a')})
      refused.push_back({code});
    for (const std::vector<std::string>& codes : refused) {
      Again again(bytes, with_codes(sound, codes, kept), bytes.size());
      EXPECT_TRUE(again.refused) << codes[0];
      EXPECT_TRUE(again.opened.problems->empty());
    }
  }
}

// Whatever they say: answers may be wrong, and nothing is read that is not there.
TEST(Trace64Notes, DamageIsSurvived) {
  std::mt19937 random(11);
  uint64_t taken = 0;
  for (size_t round = 0; round < 200; round += kEach) {
    const bool wide = round % 2 == 0;
    static const std::string files[] = {eventful(3, false, 1500), eventful(3, true, 1500)};
    static const std::vector<uint8_t> sound[] = {notes_of(Opened(files[0], "trace64")),
                                                 notes_of(Opened(files[1], "trace64"))};
    const std::string& bytes = files[wide];
    std::vector<uint8_t> notes = sound[wide];
    // The tables are at the start; texts, of which most of it consists, hurt nobody.
    for (uint32_t i = 1 + random() % 3; i > 0; --i)
      notes[random() % std::min<size_t>(notes.size(), 400)] = static_cast<uint8_t>(random());
    if (round % 7 == 0) notes.resize(random() % notes.size());
    Again again(bytes, notes, bytes.size());
    ASSERT_TRUE(again.opened.source);
    taken += again.refused ? 0 : 1;
    StepIndex& steps = *again.opened.source->steps();
    StepIndex::Moment moment;
    for (uint64_t i = 0; i < 20 && steps.count() != 0; ++i)
      ASSERT_TRUE(steps.state_before(random() % steps.count(), moment).ok());
    Batch batch;
    for (int i = 0; i < 20 && *again.opened.source->next(batch); ++i) {
    }
    std::vector<StepFlow::Place> places;
    const auto flow = steps.flow_at(steps.count() / 2);
    while (*flow->next(places)) {
    }
    EXPECT_LE(places.size(), bytes.size());
  }
  if (kEach == 1) {
    EXPECT_GT(taken, 10u);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
