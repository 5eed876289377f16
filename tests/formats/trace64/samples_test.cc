// The sample files, which a model of x64dbg's recorder wrote: whole, and damaged in every way.
// TRACEWELL_LONG=1: at every byte, which takes half an hour.
#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/random_files.h"
#include "formats/trace64/scan/scan.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

#ifdef TRACEWELL_SANITIZED
constexpr size_t kCutEvery = 6007, kFlipEvery = 61;  // bytes
#else
constexpr size_t kCutEvery = 389, kFlipEvery = 29;
#endif

size_t every(size_t bytes) { return std::getenv("TRACEWELL_LONG") != nullptr ? 1 : bytes; }

std::string jsonl_of(const std::string& bytes) { return without_path(converted(bytes, "jsonl")); }

TEST(Trace64Samples, RewritingGivesTheSameBytes) {
  for (const char* name : {"synthetic_single", "synthetic_threads_fixed"}) {
    const std::string bytes = sample(name);
    EXPECT_TRUE(converted(bytes, "trace64") == bytes) << name;
    EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes) << name;
  }
}

/// A sound file as the recorders of 2017 to 2026 would have written it; `cleared` counts the flags.
std::string with_fault(const std::string& sound, size_t& cleared) {
  std::string faulty = sound;
  cleared = 0;
  bool announced = false;
  uint32_t tid = 0;
  for (size_t at = 8 + load_uint(as_bytes(sound).data() + 4, 4, Endian::Little);
       at < sound.size();) {
    const auto* head = as_bytes(sound).data() + at;
    const bool flagged = (head[3] & 0x80) != 0;
    const auto id = static_cast<uint32_t>(load_uint(head + 4, 4, Endian::Little));
    size_t size = 4 + (flagged ? 4 : 0) + (head[3] & 15) + 9 * head[1];
    size_t fresh = 0;
    for (size_t i = 0; i < head[2]; ++i) fresh += (head[size + i] & 1) == 0;
    size += head[2] + 8 * (2 * head[2] + fresh);
    // The first of a thread, unless its flag has another reason: a full dump, or the last as well.
    const auto* next = head + size;
    const bool last = at + size < sound.size() && (next[3] & 0x80) != 0 && next[1] != 172 &&
                      load_uint(next + 4, 4, Endian::Little) != id;
    const bool first = flagged && announced && id != tid;
    if (first && head[1] != 172 && !last) {
      faulty[at + 3] = static_cast<char>(head[3] & 0x7f);
      ++cleared;
    }
    announced = flagged;
    if (flagged) tid = id;
    at += size;
  }
  return faulty;
}

/// Two runs of the model wrote the two samples with threads, so these do not hold the same steps.
/// What can be said of the faulty one: put right it is a file like the other, which the fault turns
/// into the sample again, byte for byte; and of the right one: with the fault it reads as it was.
TEST(Trace64Samples, TheThreadIdFaultIsPutRight) {
  const std::string faulty = sample("synthetic_threads_tidbug");
  Opened opened(faulty);
  ASSERT_TRUE(opened.source) << opened.error;
  const std::string events = without_path(written(*opened.source, "jsonl"));
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), 36u);
  for (const Problem& problem : opened.problems->kept())
    EXPECT_EQ(problem.code, "hidden-thread-id");
  const std::string right = converted(faulty, "trace64");
  EXPECT_EQ(right.size(), faulty.size()) << "36 flags, and nothing else";
  size_t different = 0;
  for (size_t i = 0; i < right.size(); ++i)
    if (right[i] != faulty[i]) {
      ++different;
      EXPECT_EQ(static_cast<uint8_t>(right[i] ^ faulty[i]), 0x80);
    }
  EXPECT_EQ(different, 36u);
  Opened again(right);
  EXPECT_TRUE(without_path(written(*again.source, "jsonl")) == events);
  EXPECT_EQ(again.problems->count(Problem::Severity::Warning), 0u);
  size_t cleared = 0;
  EXPECT_TRUE(with_fault(right, cleared) == faulty);
  EXPECT_EQ(cleared, 36u);
}

TEST(Trace64Samples, TheFixedOneWithTheFaultReadsTheSame) {
  const std::string fixed = sample("synthetic_threads_fixed");
  size_t cleared = 0;
  const std::string faulty = with_fault(fixed, cleared);
  EXPECT_EQ(cleared, 37u);
  Opened opened(faulty);
  EXPECT_TRUE(without_path(written(*opened.source, "jsonl")) == jsonl_of(fixed));
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), cleared);
  EXPECT_TRUE(converted(faulty, "trace64") == fixed);
}

/// Where each block of a sound file begins, and its end.
std::vector<uint64_t> borders(const std::string& bytes) {
  trace64::Scan scan(trace64::kX64,
                     8 + load_uint(as_bytes(bytes).data() + 4, 4, Endian::Little));
  scan.extend(as_bytes(bytes), nullptr, {});
  EXPECT_EQ(scan.end(), bytes.size());
  std::vector<uint64_t> out;
  trace64::Block block;
  for (uint64_t at = scan.keyframes()[0].offset; at < bytes.size(); at += block.size) {
    EXPECT_EQ(trace64::read_block(as_bytes(bytes), at, trace64::kX64, scan.is_hidden(at), block),
              trace64::Reading::Whole);
    out.push_back(at);
  }
  out.push_back(bytes.size());
  return out;
}

/// All of `whole` that is in front of `end`, and nothing else.
template <class List, class Place>
bool is_begin_of(const List& list, const List& whole, Place&& place, uint64_t end) {
  const auto behind = std::find_if(whole.begin(), whole.end(),
                                   [&](const auto& one) { return place(one) >= end; });
  return std::equal(list.begin(), list.end(), whole.begin(), behind,
                    [&](const auto& a, const auto& b) { return place(a) == place(b); });
}

/// Steps from `from` to `to` as they are read from there on.
std::vector<Known> steps_between(Source& source, uint64_t from, uint64_t to) {
  EXPECT_TRUE(source.steps()->seek(from).ok());
  std::vector<Known> out;
  if (from < to)
    each_step(source, [&](const Known& one) {
      out.push_back(one);
      return one.seq + 1 < to;
    });
  return out;
}

bool does_the_same(const Known& one, const Known& other) {
  return one.changes == other.changes && one.memory == other.memory &&
         one.stored == other.stored && one.after_known == other.after_known &&
         one.memory_incomplete == other.memory_incomplete;
}

TEST(Trace64Samples, TheLastStepsInFrontOfACutAreTheSame) {
  constexpr uint64_t kSteps = 520;  // a full dump is among them
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    const std::string bytes = sample(name);
    const std::vector<Known> whole = all_steps(*Opened(bytes).source);
    for (size_t size = bytes.size() - 65536; size < bytes.size(); size += every(kCutEvery)) {
      SCOPED_TRACE(fmt::format("{} {}", name, size));
      const Opened cut(bytes.substr(0, size));
      const uint64_t count = cut.source->steps()->count();
      const std::vector<Known> left = steps_between(*cut.source, count - kSteps, count);
      ASSERT_EQ(left.size(), kSteps);
      std::set<uint64_t> later;  // threads
      for (size_t i = left.size(); i-- > 0;) {
        const Known& was = whole[left[i].seq];
        ASSERT_EQ(left[i].tid, was.tid);
        ASSERT_EQ(left[i].pc, was.pc);
        ASSERT_EQ(left[i].opcode, was.opcode);
        ASSERT_TRUE(left[i].before.block == was.before.block &&
                    left[i].before.valid == was.before.valid);
        // What a thread's last step left stood in what was cut.
        const bool last = later.insert(left[i].tid).second;
        ASSERT_TRUE(last || does_the_same(left[i], was)) << left[i].seq;
      }
    }
  }
}

TEST(Trace64Samples, ACutLosesOnlyWhatWasCut) {
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    const std::string bytes = sample(name);
    const auto starts = borders(bytes);
    const uint64_t blocks_at = starts[0];
    const size_t first = bytes.size() - 65536;
    size_t complete = 0;
    size_t grown = 0;
    trace64::Scan before(trace64::kX64, blocks_at), all(trace64::kX64, blocks_at);
    all.extend(as_bytes(bytes), nullptr, {});
    for (size_t size = first; size < bytes.size(); size += tracewell::test::each_slow()) {
      while (starts[complete + 1] <= size) ++complete;
      if (size / 1024 != grown) before.extend(as_bytes(bytes).first(starts[complete]), nullptr, {});
      grown = size / 1024;
      // Mostly as a file that has grown to here; now and then from its beginning.
      trace64::Scan scan = size % 128 == 0 ? trace64::Scan(trace64::kX64, blocks_at) : before;
      const size_t repaired = scan.hidden().size();
      ProblemLog problems;
      scan.extend(as_bytes(bytes).first(size), &problems, {});
      ASSERT_EQ(scan.count(), complete) << name << " " << size;
      ASSERT_EQ(scan.end(), starts[complete]);
      const size_t told = scan.hidden().size() - repaired;
      ASSERT_TRUE(scan.gaps().empty() && scan.sessions().size() == 1);
      ASSERT_TRUE(is_begin_of(scan.hidden(), all.hidden(), [](uint64_t at) { return at; },
                              starts[complete]));
      ASSERT_TRUE(is_begin_of(scan.keyframes(), all.keyframes(),
                              [](const auto& one) { return one.offset; }, starts[complete]));
      ASSERT_EQ(problems.count(Problem::Severity::Warning) - told,
                starts[complete] == size ? 0u : 1u)
          << name << " " << size;
    }
    // The scan decides how many; that the events are the same is looked at here and there.
    ReadBack whole(bytes);
    for (size_t size = first; size < bytes.size(); size += 6007) {
      ReadBack cut(bytes.substr(0, size));
      std::set<uint64_t> later;  // threads
      for (size_t i = cut.steps.size(); i-- > 0;) {
        ASSERT_EQ(cut.steps[i].pc, whole.steps[i].pc);
        ASSERT_EQ(cut.tids[i], whole.tids[i]);
        // What a thread's last step left stood in what was cut.
        const bool known = !later.insert(cut.tids[i]).second;
        ASSERT_EQ(cut.steps[i].after_known, known);
        if (!known) continue;
        ASSERT_EQ(cut.steps[i].registers.size(), whole.steps[i].registers.size());
      }
    }
  }
}

/// From a full dump on, the rest of the file follows; so all dumps behind the flipped byte are to
/// be there, and what was put right behind them.
void expect_rest(const trace64::Scan& scan, const trace64::Scan& whole, uint64_t flipped) {
  const auto dump = std::find_if(whole.keyframes().begin(), whole.keyframes().end(),
                                 [&](const auto& one) { return one.offset > flipped; });
  ASSERT_TRUE(dump != whole.keyframes().end());
  const auto same = [](const trace64::Keyframe& a, const trace64::Keyframe& b) {
    return a.offset == b.offset && a.full == b.full && a.flagged == b.flagged;
  };
  const auto left = static_cast<size_t>(whole.keyframes().end() - dump);
  ASSERT_GE(scan.keyframes().size(), left);
  EXPECT_TRUE(std::equal(dump, whole.keyframes().end(),
                         scan.keyframes().end() - static_cast<ptrdiff_t>(left), same));
  const auto behind = [&](const std::vector<uint64_t>& all) {
    return std::vector<uint64_t>(std::lower_bound(all.begin(), all.end(), dump->offset), all.end());
  };
  EXPECT_EQ(behind(scan.hidden()), behind(whole.hidden()));
  for (const trace64::Gap& gap : scan.gaps()) EXPECT_LE(gap.to, dump->offset);
}

TEST(Trace64Samples, AFlippedByteDamagesUpToTheNextFullDump) {
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    std::string bytes = sample(name);
    const uint64_t blocks_at = borders(bytes)[0];
    trace64::Scan whole(trace64::kX64, blocks_at);
    whole.extend(as_bytes(bytes), nullptr, {});
    for (uint64_t at = blocks_at; at < blocks_at + 4096; at += tracewell::test::each_slow()) {
      const auto mask = static_cast<uint8_t>(at % 3 == 0 ? 0x80 : at % 3 == 1 ? 0x01 : 0xff);
      for (const uint8_t flip : {uint8_t{0xff}, mask}) {
        SCOPED_TRACE(fmt::format("{} byte {} flip {}", name, at, flip));
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        trace64::Scan scan(trace64::kX64, blocks_at);
        scan.extend(as_bytes(bytes), nullptr, {});
        expect_rest(scan, whole, at);
        ASSERT_EQ(scan.end(), bytes.size());
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        if (HasFailure()) return;
      }
    }
  }
}

/// The same of what is read: steps with the same numbers from the end, word by word.
TEST(Trace64Samples, BehindADamagedPageNothingIsDifferent) {
  for (const char* name : {"synthetic_single", "synthetic_threads_tidbug"}) {
    std::string bytes = sample(name);
    const uint64_t blocks_at = borders(bytes)[0];
    Opened opened(bytes);
    const std::vector<Known> whole = all_steps(*opened.source);
    for (uint64_t at = blocks_at; at < blocks_at + 4096; at += 61 * tracewell::test::kEach) {
      SCOPED_TRACE(fmt::format("{} byte {}", name, at));
      bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
      Opened damaged(bytes);
      const std::vector<Known> left = all_steps(*damaged.source);
      bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
      ASSERT_GT(left.size(), whole.size() - 513);
      for (size_t i = 1; i <= whole.size() - 512; ++i) {
        const Known& is = left[left.size() - i];
        const Known& was = whole[whole.size() - i];
        ASSERT_EQ(is.tid, was.tid);
        ASSERT_EQ(is.opcode, was.opcode);
        ASSERT_TRUE(is.before.block == was.before.block && is.changes == was.changes);
        ASSERT_EQ(is.memory.size(), was.memory.size());
      }
    }
  }
}

/// Byte by byte, of the first steps behind the page.
TEST(Trace64Samples, TheFirstStepsBehindADamagedPageAreTheSame) {
  constexpr uint64_t kPage = 512, kSteps = 520;
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    std::string bytes = sample(name);
    const uint64_t blocks_at = borders(bytes)[0];
    const std::vector<Known> whole = all_steps(*Opened(bytes).source);
    for (uint64_t at = blocks_at; at < blocks_at + 4096; at += every(kFlipEvery)) {
      SCOPED_TRACE(fmt::format("{} byte {}", name, at));
      bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
      const Opened damaged(bytes);
      bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
      const uint64_t behind = whole.size() - kPage, count = damaged.source->steps()->count();
      ASSERT_GE(count, behind);
      const uint64_t from = count - behind;
      const std::vector<Known> left = steps_between(*damaged.source, from, from + kSteps);
      ASSERT_EQ(left.size(), kSteps);
      for (size_t i = 0; i < left.size(); ++i) {
        const Known& was = whole[kPage + i];
        ASSERT_EQ(left[i].tid, was.tid);
        ASSERT_EQ(left[i].opcode, was.opcode);
        ASSERT_TRUE(left[i].before.block == was.before.block && does_the_same(left[i], was)) << i;
      }
    }
  }
}

TEST(Trace64Samples, DamagedFilesAreReadAndWritten) {
  std::string bytes = sample("synthetic_threads_tidbug");
  const uint64_t blocks_at = borders(bytes)[0];
  for (uint64_t at = blocks_at; at < blocks_at + 4096; at += 97 * tracewell::test::kEach) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    const std::string saved = converted(bytes, "trace64");
    ReadBack again(saved);
    ASSERT_TRUE(again.opened.source) << again.opened.error;
    EXPECT_EQ(again.bad(), 0u) << at;
    EXPECT_GT(again.steps.size(), 4400u);
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
