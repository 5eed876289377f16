// The sample files, which a model of x64dbg's recorder wrote: whole, and damaged in every way.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64_model.h"
#include "formats/trace64_scan.h"

namespace tracewell::formats::test {
namespace {

std::string sample(const std::string& name) {
  return read_file(fmt::format("{}/tests/formats/data/{}.trace64", TRACEWELL_SOURCE_DIR, name));
}

std::string jsonl_of(const std::string& bytes) { return without_path(converted(bytes, "jsonl")); }

TEST(Trace64Samples, RewritingGivesTheSameBytes) {
  for (const char* name : {"synthetic_single", "synthetic_threads_fixed"}) {
    const std::string bytes = sample(name);
    EXPECT_TRUE(converted(bytes, "trace64") == bytes) << name;
    EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes) << name;
  }
}

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
  Opened again(right);
  EXPECT_TRUE(without_path(written(*again.source, "jsonl")) == events);
  EXPECT_EQ(again.problems->count(Problem::Severity::Warning), 0u);
}

/// The fixed sample as the recorders of 2017 to 2026 would have written it.
TEST(Trace64Samples, TheFixedOneWithTheFaultReadsTheSame) {
  const std::string fixed = sample("synthetic_threads_fixed");
  std::string faulty = fixed;
  size_t cleared = 0;
  bool announced = false;
  uint32_t tid = 0;
  for (size_t at = 8 + load_uint(as_bytes(fixed).data() + 4, 4, Endian::Little);
       at < fixed.size();) {
    const auto* head = as_bytes(fixed).data() + at;
    const bool flagged = (head[3] & 0x80) != 0;
    const auto id = static_cast<uint32_t>(load_uint(head + 4, 4, Endian::Little));
    size_t size = 4 + (flagged ? 4 : 0) + (head[3] & 15) + 9 * head[1];
    size_t fresh = 0;
    for (size_t i = 0; i < head[2]; ++i) fresh += (head[size + i] & 1) == 0;
    size += head[2] + 8 * (2 * head[2] + fresh);
    // The first of a thread, unless its flag has another reason: a full dump, or the last as well.
    const auto* next = head + size;
    const bool last = at + size < fixed.size() && (next[3] & 0x80) != 0 && next[1] != 172 &&
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
  ASSERT_GT(cleared, 30u);
  Opened opened(faulty);
  EXPECT_TRUE(without_path(written(*opened.source, "jsonl")) == jsonl_of(fixed));
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), cleared);
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

TEST(Trace64Samples, ACutLosesOnlyWhatWasCut) {
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    const std::string bytes = sample(name);
    const auto starts = borders(bytes);
    const uint64_t blocks_at = starts[0];
    const size_t first = bytes.size() - 65536;
    size_t complete = 0;
    trace64::Scan before(trace64::kX64, blocks_at);
    for (size_t size = first; size < bytes.size(); ++size) {
      while (starts[complete + 1] <= size) ++complete;
      if (size % 1024 == 0) before.extend(as_bytes(bytes).first(starts[complete]), nullptr, {});
      // Mostly as a file that has grown to here; now and then from its beginning.
      trace64::Scan scan = size % 128 == 0 ? trace64::Scan(trace64::kX64, blocks_at) : before;
      const size_t repaired = scan.hidden().size();
      ProblemLog problems;
      scan.extend(as_bytes(bytes).first(size), &problems, {});
      ASSERT_EQ(scan.count(), complete) << name << " " << size;
      ASSERT_EQ(scan.end(), starts[complete]);
      const size_t told = scan.hidden().size() - repaired;
      ASSERT_EQ(problems.count(Problem::Severity::Warning) - told,
                starts[complete] == size ? 0u : 1u);
    }
    // The scan decides how many; that the events are the same is looked at here and there.
    ReadBack whole(bytes);
    for (size_t size = first; size < bytes.size(); size += 6007) {
      ReadBack cut(bytes.substr(0, size));
      for (size_t i = 0; i + 1 < cut.steps.size(); ++i) {
        ASSERT_EQ(cut.steps[i].pc, whole.steps[i].pc);
        ASSERT_EQ(cut.steps[i].registers.size(), whole.steps[i].registers.size());
        ASSERT_EQ(cut.tids[i], whole.tids[i]);
      }
    }
  }
}

TEST(Trace64Samples, AFlippedByteDamagesUpToTheNextFullDump) {
  for (const char* name : {"synthetic_single", "synthetic_threads_tidbug"}) {
    std::string bytes = sample(name);
    const uint64_t blocks_at = borders(bytes)[0];
    trace64::Scan whole(trace64::kX64, blocks_at);
    whole.extend(as_bytes(bytes), nullptr, {});
    for (uint64_t at = blocks_at; at < blocks_at + 4096; ++at) {
      const auto mask = static_cast<uint8_t>(at % 3 == 0 ? 0x80 : at % 3 == 1 ? 0x01 : 0xff);
      for (const uint8_t flip : {uint8_t{0xff}, mask}) {
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        trace64::Scan scan(trace64::kX64, blocks_at);
        scan.extend(as_bytes(bytes), nullptr, {});
        // From a full dump on, the rest of the file follows; so look for all dumps behind this.
        size_t missing = 0;
        for (const trace64::Keyframe& dump : whole.keyframes()) {
          if (dump.offset <= at) continue;
          missing += std::none_of(scan.keyframes().begin(), scan.keyframes().end(),
                                  [&](const auto& one) { return one.offset == dump.offset; });
        }
        ASSERT_EQ(missing, 0u) << name << " byte " << at << " flip " << int{flip};
        ASSERT_EQ(scan.end(), bytes.size());
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
      }
    }
  }
}

TEST(Trace64Samples, DamagedFilesAreReadAndWritten) {
  std::string bytes = sample("synthetic_threads_tidbug");
  const uint64_t blocks_at = borders(bytes)[0];
  for (uint64_t at = blocks_at; at < blocks_at + 4096; at += 97) {
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
