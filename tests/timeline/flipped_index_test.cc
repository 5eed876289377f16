// An index of which any part has been damaged: whoever asks gets the right answer, or is told.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sanitized.h"
#include "timeline/calls/call_tree.h"
#include "timeline/random_steps.h"
#include "timeline/search.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

/// All that a few questions of each kind are answered.
using Answers = std::vector<uint64_t>;

class Told {
 public:
  Answers out;
  void add(uint64_t value) { out.push_back(value); }
  void add(const std::optional<uint64_t>& value) { out.push_back(value.value_or(UINT64_MAX)); }
  void add(const std::vector<uint64_t>& values) {
    out.push_back(values.size());
    out.insert(out.end(), values.begin(), values.end());
  }
};

/// One of the kinds of questions that there are.
constexpr int kKinds = 9;
Answers ask(const Timeline& timeline, int kind) {
  Told told;
  const uint64_t steps = timeline.steps();
  told.add(steps);
  const AddressRange code = {0x401000, 0x401100}, data = {0x7000, 0x7100};
  for (uint64_t at = 0; at < steps && kind < 7; at += 101) {
    if (kind == 0) {
      told.add(timeline.next_execution(code, at));
      told.add(timeline.last_execution({0x401010, 0x401010}, at));
    } else if (kind == 1) {
      told.add(timeline.next_access({0x7000 + at % 64, 0x7000 + at % 64}, kWrites, at));
      told.add(timeline.last_access(data, kReads, at));
    } else if (kind == 2) {
      for (const ChangedBy by : {ChangedBy::Instruction, ChangedBy::Others}) {
        told.add(timeline.next_change(static_cast<uint32_t>(at % 18), by, at));
        told.add(timeline.last_change(static_cast<uint32_t>(at % 18), by, at));
      }
    } else if (kind == 3) {
      std::vector<uint8_t> bytes(64);
      std::vector<ByteState> states(64);
      timeline.memory(at, 0x7000 + at % 200, bytes, states);
      told.out.insert(told.out.end(), bytes.begin(), bytes.end());
      for (const ByteState state : states) told.out.push_back(static_cast<uint8_t>(state));
    } else if (kind == 4) {
      told.add(timeline.thread_of(at));
      told.add(timeline.next_step_of(200, at));
      told.add(timeline.last_step_of(300, at));
    } else if (kind == 5) {
      for (const uint64_t tid : {100, 200, 300}) {
        const OpenCalls open = timeline.open_calls(at, tid, 1000);
        told.add(open.depth);
        for (const OpenCall& one : open.calls)
          for (uint64_t value : {one.first, one.function, one.back}) told.add(value);
      }
    } else {
      const uint64_t end = std::min(at + 50, steps);
      told.add(timeline.executions(code, at, end));
      told.add(timeline.accesses(data, kAccesses, at, end));
      told.add(timeline.changes(3, at, end));
    }
  }
  if (kind == 7) {
    told.add(timeline.threads());
    for (const auto& one : timeline.address_hits())
      for (uint64_t value : {one.address, one.count}) told.add(value);
    for (const auto& one : timeline.block_hits())
      for (uint64_t value : {one.address, one.size_bytes, one.instructions, one.count})
        told.add(value);
  } else if (kind == 8) {
    for (const Call& one : call_tree(timeline))
      for (uint64_t value : {one.tid, one.function, one.back, one.first, one.end}) told.add(value);
    EXPECT_TRUE(find_bytes(timeline, std::vector<uint8_t>{1}, [&](const BytesHit& hit) {
      for (uint64_t value : {hit.address, hit.first, hit.last}) told.add(value);
      return told.out.size() < 3000;
    }));
  }
  return std::move(told.out);
}

class BytesOfIndex final : public IndexSink {
 public:
  Status append(Bytes bytes) override {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  }
  Status rewrite_head(Bytes bytes) override {
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return {};
  }
  uint64_t size() const override { return out.size(); }
  std::vector<uint8_t> out;
};

class FlippedIndex : public testing::Test {
 protected:
  FlippedIndex() {
    tracewell::test::ListSource source(trace_.catalog, trace_.events());
    const auto store = *StepStore::read(source);
    BuildOptions options;
    options.segment_steps = 200;
    options.workers = 1;
    options.notes = notes_;
    BytesOfIndex sink;
    EXPECT_TRUE(build_index(*store, trace_.catalog, {}, nullptr, options, sink).ok());
    sound_ = std::move(sink.out);
    find_regions();
    for (int kind = 0; kind < kKinds; ++kind) wanted_.push_back(ask(open(sound_), kind));
  }

  struct Region {
    size_t offset = 0, size = 0;
    bool at_once = false;  // whoever opens the index looks at all of it
  };
  void add(const std::string& name, Bytes part, bool at_once) {
    if (part.empty()) return;
    regions_[name].push_back(
        {static_cast<size_t>(part.data() - sound_.data()), part.size(), at_once});
  }
  /// All of the file, by what it is.
  void find_regions() {
    index_ = *read_index(sound_, nullptr);
    static constexpr const char* kNames[] = {"executions", "registers", "threads",
                                             "cells",      "transfers", "openings"};
    static_assert(std::size(kNames) == kParts);
    size_t end = kIndexHeaderBytes;
    add("header", Bytes(sound_).first(end), true);
    for (const Segment& one : index_.segments) {
      for (size_t i = 0; i < kParts; ++i) add(kNames[i], one.parts[i], false);
      add("sums", one.sums->sums(), false);
      add("seams", one.seams, true);
      add("call marks", one.call_marks, false);
      add("sums of call marks", one.call_sums->sums(), false);
    }
    add("notes", index_.notes, true);
    for (const auto& [name, all] : regions_)
      for (const Region& one : all) end = std::max(end, one.offset + one.size);
    add("directory", Bytes(sound_).subspan(end), true);
  }
  static Timeline open(const std::vector<uint8_t>& bytes) {
    auto owned = std::make_shared<std::vector<uint8_t>>(bytes);
    auto index = read_index(*owned, owned);
    EXPECT_TRUE(index);
    return Timeline(*std::move(index));
  }

  RandomSteps trace_{11, {.steps = 4000, .threads = 3, .losses_per_mille = 2}};
  const std::vector<uint8_t> notes_ = {1, 2, 3, 4, 5};
  std::vector<uint8_t> sound_;
  Index index_;
  std::map<std::string, std::vector<Region>> regions_;
  std::vector<Answers> wanted_;
};

TEST_F(FlippedIndex, IsAllRegions) {
  std::vector<bool> seen(sound_.size());
  for (const auto& [name, all] : regions_) {
    for (const Region& one : all) {
      for (size_t i = 0; i < one.size; ++i) {
        EXPECT_FALSE(seen[one.offset + i]) << name;
        seen[one.offset + i] = true;
      }
    }
  }
  EXPECT_EQ(std::ranges::count(seen, false), 0);
  EXPECT_EQ(regions_.size(), 13u);
}

TEST_F(FlippedIndex, IsNeverWrongInSilence) {
  std::mt19937 random(6);
  for (const auto& [name, all] : regions_) {
    SCOPED_TRACE(name);
    size_t told = 0, refused = 0;
    for (int round = 0; round < 24; ++round) {
      const Region& region = all[random() % all.size()];
      // The first bytes and the last ones of each, too.
      const size_t within = round < 4 ? std::min<size_t>(round, region.size - 1)
                            : round < 8 ? region.size - 1 - std::min<size_t>(round - 4,
                                                                             region.size - 1)
                                        : random() % region.size;
      std::vector<uint8_t> bytes = sound_;
      bytes[region.offset + within] ^= static_cast<uint8_t>(1u << random() % 8);
      if (!read_index(bytes, nullptr)) {
        ++refused;  // then it is made anew
        continue;
      }
      EXPECT_FALSE(region.at_once);
      for (int kind = 0; kind < kKinds; ++kind) {
        const Timeline timeline = open(bytes);
        const Answers answers = ask(timeline, kind);
        told += timeline.damaged();
        if (!timeline.damaged()) {
          ASSERT_EQ(answers, wanted_[kind]) << "question " << kind << ", byte " << within;
        }
      }
    }
    EXPECT_GT(told + refused, 0u);
    if (all.front().at_once) {
      EXPECT_EQ(refused, 24u);
    } else {
      EXPECT_GE(told, 24u);  // who looks at all of it, at least
    }
  }
}

// What is looked at piece by piece has pieces enough here that one is sound where another is not.
TEST(FlippedCalls, AreNeverWrongInSilence) {
  static constexpr uint8_t kCall[5] = {0xe8}, kReturn[1] = {0xc3};
  constexpr uint64_t kSteps = 60000, kPlaces = 300;
  std::mt19937 random(8);
  Catalog catalog;
  catalog.machine = "x86-64";
  Batch batch;
  std::vector<uint64_t> backs;
  uint64_t pc = 0x1000;
  for (uint64_t i = 0; i < kSteps; ++i) {
    Step step;
    step.pc = pc;
    const bool calls = backs.empty() || random() % 100 < 52;
    step.opcode = calls ? Bytes(kCall) : Bytes(kReturn);
    if (calls) {
      backs.push_back(pc + sizeof(kCall));
      pc = 0x1000 + random() % 1000 * 64;
    } else {
      pc = backs.back();
      backs.pop_back();
    }
    Event& event = batch.add();
    event.seq = i;
    event.tid = 7;
    event.body = step;
  }
  tracewell::test::ListSource source(catalog, batch.events());
  const auto store = *StepStore::read(source);
  BytesOfIndex sink;
  ASSERT_TRUE(build_index(*store, catalog, {}, nullptr, BuildOptions(), sink).ok());
  const auto ask_all = [&](const Timeline& timeline, uint64_t at) {
    Told told;
    const OpenCalls open = timeline.open_calls(at, 7, 40);
    told.add(open.depth);
    for (const OpenCall& one : open.calls)
      for (uint64_t value : {one.first, one.function, one.back}) told.add(value);
    return std::move(told.out);
  };
  const auto open = [](const std::vector<uint8_t>& bytes) {
    auto owned = std::make_shared<std::vector<uint8_t>>(bytes);
    return Timeline(*read_index(*owned, owned));
  };
  const Timeline sound = open(sink.out);
  std::vector<Answers> wanted;
  for (uint64_t i = 0; i < kPlaces; ++i) wanted.push_back(ask_all(sound, kSteps / kPlaces * i));
  EXPECT_GT(wanted.back().size(), 50u);
  const Index index = *read_index(sink.out, nullptr);
  const Segment& segment = index.segments.front();
  const Bytes transfers = segment.parts[static_cast<size_t>(Part::Transfers)];
  ASSERT_GT(segment.call_marks.size(), 3 * kSumBytes);
  for (const Bytes part : {segment.call_marks, segment.call_sums->sums(), transfers}) {
    size_t told = 0, right = 0;
    for (size_t round = 0; round < 60; round += tracewell::test::kEach) {
      std::vector<uint8_t> bytes = sink.out;
      const auto at = static_cast<size_t>(part.data() - sink.out.data()) + random() % part.size();
      bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
      for (uint64_t i = random() % 10; i < kPlaces; i += 10) {
        const Timeline timeline = open(bytes);
        const Answers got = ask_all(timeline, kSteps / kPlaces * i);
        ++(timeline.damaged() ? told : right);
        if (!timeline.damaged()) {
          ASSERT_EQ(got, wanted[i]) << "step " << kSteps / kPlaces * i << ", byte " << at;
        }
      }
    }
    EXPECT_GT(told, 20u / tracewell::test::kEach);
    EXPECT_GT(right, 20u / tracewell::test::kEach) << "who asks little looks at little";
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
