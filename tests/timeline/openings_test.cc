// Where others than the recorded instructions may have written memory, one case at a time, in one
// segment and over the border of two.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "list_source.h"
#include "machine/x86.h"
#include "model/batch.h"
#include "timeline/index/segment_builder.h"
#include "timeline/moment.h"
#include "timeline/search.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

using Kind = Step::MemoryAccess::Kind;

/// Steps of thread 7 from 0x1000 on, each behind the one before unless it says otherwise.
class Recorded {
 public:
  explicit Recorded(bool is_64 = true) {
    catalog_.machine = is_64 ? "x86-64" : "i386";
    catalog_.address_bytes = is_64 ? 8 : 4;
    catalog_.registers = is_64 ? machine::x86_64_layout({}) : machine::i386_layout({});
  }

  Recorded& at(uint64_t pc) {
    pc_ = pc;
    return *this;
  }
  Recorded& step(std::string_view code, std::vector<Step::MemoryAccess> memory = {},
                 bool incomplete = false) {
    const auto opcode = from_hex(code);
    Step step;
    step.pc = pc_;
    step.opcode = batch_.copy(Bytes(*opcode));
    for (Step::MemoryAccess& one : memory) {
      one.old_bytes = batch_.copy(one.old_bytes);
      one.new_bytes = batch_.copy(one.new_bytes);
    }
    step.memory = batch_.copy_array(std::span<const Step::MemoryAccess>(memory));
    step.memory_incomplete = incomplete;
    const std::vector<uint8_t> value(catalog_.registers.registers[0].size_bytes, 5);
    const Step::RegisterChange change = {0, batch_.copy(Bytes(value))};
    step.registers = batch_.copy_array(std::span(&change, 1));
    Event& event = batch_.add();
    event.seq = steps_++;
    event.tid = 7;
    event.body = step;
    pc_ += step.opcode.size();
    return *this;
  }
  Recorded& lose() {
    Event& event = batch_.add();
    event.seq = steps_;
    event.body = Lost{100, "a gap"};
    return *this;
  }

  /// Of the byte at each moment: t, i, k or ?, with segments of so many steps.
  std::string states(uint64_t address, uint64_t segment_steps) const {
    const auto timeline = open(segment_steps);
    std::string out;
    for (uint64_t at = 0; at <= timeline->steps(); ++at) {
      std::array<uint8_t, 1> byte;
      std::array<ByteState, 1> state;
      timeline->memory(at, address, byte, state);
      out += "?kit"[static_cast<size_t>(state[0])];
    }
    return out;
  }
  /// In one segment, and where each step but two begins one, it is so.
  void expect(uint64_t address, const std::string& wanted) const {
    for (const uint64_t segment_steps : {1000, 3, 2, 1})
      EXPECT_EQ(states(address, segment_steps), wanted) << "segments of " << segment_steps;
  }
  std::unique_ptr<Timeline> open(uint64_t segment_steps) const {
    TimelineOptions options;
    options.build.segment_steps = segment_steps;
    return std::make_unique<Timeline>(*Timeline::open(*store(), catalog_, {}, options));
  }
  /// While it is built.
  size_t bytes_of_index() const {
    SegmentBuilder builder(catalog_, true);
    for (const Event& event : batch_.events()) builder.add(event);
    return builder.size_bytes();
  }
  std::unique_ptr<StepStore> store() const {
    tracewell::test::ListSource source(catalog_, batch_.events());
    return *StepStore::read(source);
  }

 private:
  Catalog catalog_;
  Batch batch_;
  uint64_t pc_ = 0x1000, steps_ = 0;
};

constexpr std::array<uint8_t, 1> kOne = {1}, kTwo = {2};

Step::MemoryAccess found(uint64_t address, Bytes bytes) {
  return {address, Kind::Read, static_cast<uint32_t>(bytes.size()), bytes, {}};
}
Step::MemoryAccess left(uint64_t address, Bytes bytes) {
  return {address, Kind::Write, static_cast<uint32_t>(bytes.size()), {}, bytes};
}

TEST(Openings, CallThatWasSteppedOver) {
  for (const char* const call : {"e800100000", "ffd0", "ff1500000000", "ff18"}) {
    Recorded trace;
    trace.step("90", {found(0x9000, kOne)}).step(call, {left(0x8000, kTwo)});
    trace.step("90").step("90", {found(0x9000, kTwo)});
    SCOPED_TRACE(call);
    // What the call itself pushed was there before its callee ran.
    trace.expect(0x9000, "ttitt");
    trace.expect(0x8000, "??kkk");
    const auto changes = trace.open(1000)->changes_by_others(3, {0x9000, 0x9000});
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].since, 1u);  // while the call was done
    EXPECT_EQ(changes[0].until, 2u);
  }
}

TEST(Openings, NoneWhereACallLeadsByItself) {
  for (const char* const call : {"e800000000", "e8fb0f0000"}) {
    Recorded trace;
    trace.step("90", {found(0x9000, kOne)}).step(call, {left(0x8000, kTwo)});
    trace.at(call[3] == '0' ? 0x1006 : 0x2001).step("90").step("90", {found(0x9100, kTwo)});
    SCOPED_TRACE(call);
    trace.expect(0x9000, "ttttt");
    trace.expect(0x8000, "??ttt");
    trace.expect(0x9100, "iiitt");
  }
}

TEST(Openings, FaultsAndSignals) {
  // Also one that is done again although it does not repeat.
  for (const auto& [code, next] : std::vector<std::pair<const char*, uint64_t>>{
           {"90", 0x5000}, {"488b00", 0x5000}, {"0f0b", 0x5000}, {"488b00", 0x1001},
           {"7510", 0x5000}, {"eb10", 0x1003}, {"e810000000", 0x5000}, {"0f05", 0x5000}}) {
    Recorded trace;
    trace.step("90", {left(0x9000, kOne)}).step(code, {left(0x9100, kOne)});
    trace.at(next).step("90", {found(0x7000, kTwo)}).step("90");
    SCOPED_TRACE(code);
    trace.expect(0x7000, "??ttt");
    trace.expect(0x9000, "?tkkk");
    trace.expect(0x9100, "??kkk");
  }
}

TEST(Openings, NoneWhereInstructionsLeadByThemselves) {
  for (const auto& [code, next] : std::vector<std::pair<const char*, uint64_t>>{
           {"f348ab", 0x1001}, {"f348ab", 0x1004}, {"7510", 0x1013}, {"7510", 0x1003},
           {"eb10", 0x1013}, {"e2fe", 0x1001}, {"ffe0", 0x5000}, {"c3", 0x5000},
           {"ffd0", 0x5000}}) {
    Recorded trace;
    trace.step("90", {left(0x9000, kOne)}).step(code);
    trace.at(next).step("90", {found(0x7000, kTwo)}).step("90");
    SCOPED_TRACE(code);
    trace.expect(0x9000, "?tttt");
    trace.expect(0x7000, "iittt");
  }
}

TEST(Openings, ReturnsAndIndirectJumpsThatLeadElsewhere) {
  const std::vector<uint8_t> target = {0, 0x50, 0, 0, 0, 0, 0, 0};
  for (const char* const code : {"c3", "ff20", "ff10"}) {
    for (const uint64_t next : {0x5000, 0x6000}) {
      Recorded trace;
      trace.step("90", {left(0x9000, kOne)}).step(code, {found(0x9100, target)});
      trace.at(next).step("90").step("90");
      SCOPED_TRACE(code);
      trace.expect(0x9000, next == 0x5000 ? "?tttt" : "?tkkk");
    }
  }
}

TEST(Openings, NarrowAddressesBeginAnew) {
  Recorded trace(false);
  trace.step("90", {left(0x9000, kOne)}).at(0xfffffffe).step("eb02");
  trace.at(2).step("90").step("90");
  trace.expect(0x9000, "?kkkk");  // in front of 0xfffffffe alone
  Recorded jumps(false);
  jumps.at(0xfffffffe).step("90", {left(0x9000, kOne)}).step("90").at(0).step("eb02");
  jumps.at(4).step("90");
  jumps.expect(0x9000, "?tttt");
}

TEST(Openings, FarReturns) {
  for (const char* const code : {"cb", "ca0800", "cf", "66cf"}) {
    Recorded trace(false);
    trace.step("90", {found(0x9000, kOne)}).step(code);
    trace.at(0x5000).step("90", {found(0x9100, kOne)});
    SCOPED_TRACE(code);
    trace.expect(0x9000, "ttkk");
    trace.expect(0x9100, "??tt");
  }
  Recorded trace;
  trace.step("90", {found(0x9000, kOne)}).step("48cf").at(0x5000).step("90");
  trace.expect(0x9000, "ttkk");
}

TEST(Openings, StepsThatLeaveOutWhatTheyWrite) {
  const std::vector<uint8_t> eight(8, 1), sixty_four(64, 1);
  const auto states = [](std::string_view code, std::vector<Step::MemoryAccess> memory) {
    Recorded trace;
    trace.step("90", {found(0x9000, kOne)}).step(code, std::move(memory), true).step("90");
    return trace.states(0x9000, 1000);
  };
  EXPECT_EQ(states("0fae00", {}), "ttkk");                              // fxsave [rax]
  EXPECT_EQ(states("480fae26", {left(0x9100, eight)}), "ttkk");         // xsave64 [rsi]
  EXPECT_EQ(states("f348ab", {left(0x9100, eight)}), "ttkk");           // rep stosq
  EXPECT_EQ(states("c8000002", {left(0x9100, eight)}), "ttkk");         // enter 0, 2
  EXPECT_EQ(states("62f27d49a00408", {left(0x9100, eight)}), "ttkk");   // vpscatterdd
  EXPECT_EQ(states("0f01fc", {}), "ttkk");                              // clzero
  EXPECT_EQ(states("50", {}), "ttkk");                                  // push rax
  EXPECT_EQ(states("50", {left(0x9100, eight)}), "tttt");
  EXPECT_EQ(states("62f17c491100", {left(0x9100, sixty_four)}), "tttt");  // masked, and all of it
  EXPECT_EQ(states("488b00", {}), "tttt");                              // mov rax, [rax]
  EXPECT_EQ(states("0fae08", {}), "tttt");                              // fxrstor [rax]
  EXPECT_EQ(states("f348ac", {}), "tttt");                              // rep lodsb
  // What it is told to have left is told still.
  Recorded trace;
  trace.step("90", {left(0x9000, kOne)}).step("480fae26", {left(0x9000, kOne)}, true).step("90");
  trace.expect(0x9000, "?ttt");
}

TEST(Openings, AccessesThatAreTooLargeForHistories) {
  constexpr uint32_t kBytes = 20481;
  Recorded trace;
  trace.step("90", {found(0x6000, kOne)}).step("90", {{0x1000, Kind::Write, kBytes, {}, {}}});
  trace.step("90", {{0x1000, Kind::Read, kBytes, {}, {}}}).step("90");
  trace.expect(0x6000, "ttkkk");
  for (const uint64_t segment_steps : {1000, 2, 1}) {
    const auto timeline = trace.open(segment_steps);
    for (const uint64_t address : {0x1000, 0x4fff, 0x5000, 0x6000}) {
      const AddressRange byte = {address, address};
      EXPECT_EQ(timeline->next_access(byte, kWrites, 0), 1u) << address;
      EXPECT_EQ(timeline->next_access(byte, kReads, 1), 2u) << address;
      EXPECT_EQ(timeline->last_access(byte, kWrites, 4), 1u) << address;
      EXPECT_EQ(timeline->last_access(byte, kAccesses, 4), 2u) << address;
      EXPECT_EQ(timeline->accesses(byte, kAccesses, 1, 4), (std::vector<uint64_t>{1, 2}));
      EXPECT_EQ(timeline->next_access(byte, kWrites, 2), std::nullopt);
    }
    EXPECT_EQ(timeline->next_access({0x6001, 0x7000}, kAccesses, 0), std::nullopt);
  }
  // At the end of all addresses there are no more.
  Recorded end;
  end.step("90", {{UINT64_MAX - 16384, Kind::Write, kBytes, {}, {}}}).step("90");
  const auto timeline = end.open(1000);
  EXPECT_EQ(timeline->next_access({UINT64_MAX, UINT64_MAX}, kWrites, 0), 0u);
  EXPECT_EQ(timeline->next_access({0, 0}, kWrites, 0), std::nullopt);
}

/// A few bytes of a trace say that some KB were touched, step after step: they do not take as much.
TEST(Openings, LargeAccessesWithoutContentAreBounded) {
  constexpr uint32_t kBytes = 16384, kSteps = 2000;
  Recorded trace;
  trace.step("90", {found(0x6000, kOne)});
  const auto address = [](uint64_t i) { return 0x10'0000 + i * 0x10000; };
  for (uint64_t i = 1; i < kSteps; ++i)
    trace.step("90", {{address(i), i % 2 == 0 ? Kind::Read : Kind::Write, kBytes, {}, {}},
                      {address(i) + 0x8000, Kind::Read, 65536 - 0x8000, {}, {}}});
  trace.step("90");
  EXPECT_LT(trace.bytes_of_index(), size_t{64} << 20);
  // All of them are found, the first and the last byte of each.
  const auto timeline = trace.open(10'000);
  for (const uint64_t i : {1u, 2u, 15u, 16u, 500u, kSteps - 2, kSteps - 1}) {
    const uint8_t kinds = i % 2 == 0 ? kReads : kWrites;
    for (const uint64_t at : {0u, 63u, 64u, 8191u, kBytes - 1}) {
      const AddressRange byte = {address(i) + at, address(i) + at};
      EXPECT_EQ(timeline->accesses(byte, kAccesses, 0, kSteps), std::vector<uint64_t>{i}) << at;
      EXPECT_EQ(timeline->next_access(byte, kinds, 0), i);
      EXPECT_EQ(timeline->last_access(byte, kinds, kSteps), i);
    }
    const AddressRange behind = {address(i) + kBytes, address(i) + 0x7fff};
    EXPECT_EQ(timeline->next_access(behind, kAccesses, 0), std::nullopt);
    const AddressRange other = {address(i) + 0xffff, address(i) + 0xffff};
    EXPECT_EQ(timeline->accesses(other, kAccesses, 0, kSteps), std::vector<uint64_t>{i});
  }
  // What a step wrote that nobody told is not known to be as it was.
  Recorded one;
  one.step("90", {left(0x9000, kOne)});
  for (uint64_t i = 1; i < 200; ++i) one.step("90", {{address(i), Kind::Write, kBytes, {}, {}}});
  one.step("90", {{0x8f00, Kind::Write, kBytes, {}, {}}}).step("90");
  for (const uint64_t segment_steps : {1000, 100, 1}) {
    const std::string states = one.states(0x9000, segment_steps);
    EXPECT_EQ(states.substr(0, 20), "?ttttttttttttttttttt");
    EXPECT_EQ(states.size(), 203u);
    EXPECT_EQ(states.substr(201).find('t'), std::string::npos) << states.substr(201);
  }
}

TEST(Openings, LossBehindTheLastStep) {
  Recorded trace;
  trace.step("90", {left(0x9000, kOne)}).step("90").lose();
  trace.expect(0x9000, "?t?");
  for (const uint64_t segment_steps : {1000, 1}) {
    const auto timeline = trace.open(segment_steps);
    EXPECT_EQ(timeline->stretch_of(1), (std::pair<uint64_t, uint64_t>(0, 2)));
    EXPECT_EQ(timeline->stretch_of(2), (std::pair<uint64_t, uint64_t>(2, 2)));
    EXPECT_FALSE(timeline->sealed(1, 2));
    uint64_t hits = 0;
    EXPECT_TRUE(find_bytes(*timeline, kOne, [&](const BytesHit& hit) {
      EXPECT_EQ(hit.first, 1u);
      EXPECT_EQ(hit.last, 1u);
      return ++hits != 0;
    }));
    EXPECT_EQ(hits, 1u);
    const auto store = trace.store();
    EXPECT_TRUE(registers_at(*store, *timeline, 1, 7)->is_valid(0));
    EXPECT_FALSE(registers_at(*store, *timeline, 2, 7)->is_valid(0));
  }
  Recorded whole;
  whole.step("90", {left(0x9000, kOne)}).step("90");
  whole.expect(0x9000, "?tt");
}

}  // namespace
}  // namespace tracewell::timeline::test
