#include "target/recorded/history_target.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "machine/tdesc.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;
using Point = Breakpoints::Kind;

RegisterLayout x86_64() {
  std::string machine = "x86-64";
  return machine::default_layout(560, machine);
}

/// Some steps, and every question answered by looking at all of them.
class NaiveHistory final : public History {
 public:
  struct Store {
    uint64_t address;
    uint8_t value;
    bool write = true;
  };
  struct One {
    uint64_t thread, pc;
    std::vector<Store> stores;
  };
  explicit NaiveHistory(std::vector<One> steps) : steps_(std::move(steps)) {}

  uint64_t count() const override { return steps_.size(); }
  std::vector<uint64_t> threads() override {
    std::vector<uint64_t> out;
    for (const One& one : steps_)
      if (std::ranges::find(out, one.thread) == out.end()) out.push_back(one.thread);
    return out;
  }
  /// rax is the number of the step, rip the pc; nothing else is known.
  Status before(uint64_t step, StepIndex::Moment& moment) override {
    if (step >= count()) return {Errc::InvalidArgument, "no such step"};
    moment.tid = steps_[step].thread;
    moment.pc = steps_[step].pc;
    moment.registers.reset(layout);
    set(moment.registers, "rax", step);
    if (tells_rip) set(moment.registers, "rip", moment.pc);
    return {};
  }
  Status read_memory(uint64_t step, uint64_t address, std::span<uint8_t> into,
                     std::span<ByteState> states) override {
    for (uint64_t i = 0; i < step; ++i)
      for (const Store& store : steps_[i].stores)
        if (store.address >= address && store.address - address < into.size()) {
          into[store.address - address] = store.value;
          states[store.address - address] = ByteState::Told;
        }
    return {};
  }
  std::optional<uint64_t> next_execution(uint64_t pc, uint64_t from) override {
    return next(from, [&](const One& one) { return one.pc == pc; });
  }
  std::optional<uint64_t> last_execution(uint64_t pc, uint64_t before) override {
    return last(before, [&](const One& one) { return one.pc == pc; });
  }
  std::optional<Touched> next_touch(uint64_t address, uint64_t size, Touch how,
                                    uint64_t from) override {
    count_search();
    return touched(next(from, touches(address, size, how)), address, size);
  }
  std::optional<Touched> last_touch(uint64_t address, uint64_t size, Touch how,
                                    uint64_t before) override {
    count_search();
    return touched(last(before, touches(address, size, how)), address, size);
  }
  std::optional<uint64_t> next_of_thread(uint64_t thread, uint64_t from) override {
    return next(from, [&](const One& one) { return one.thread == thread; });
  }
  std::optional<uint64_t> last_of_thread(uint64_t thread, uint64_t before) override {
    return last(before, [&](const One& one) { return one.thread == thread; });
  }

  RegisterLayout layout = x86_64();
  bool tells_rip = true;
  uint64_t searches = 0;  // for a touch
  std::function<void()> on_search;

 private:
  void count_search() {
    ++searches;
    if (on_search) on_search();
  }
  void set(RegisterState& state, std::string_view name, uint64_t value) const {
    const Register* one = layout.find(name);
    uint8_t raw[8];
    for (int i = 0; i < 8; ++i) raw[i] = static_cast<uint8_t>(value >> (8 * i));
    state.set(layout, static_cast<uint32_t>(one - layout.registers.data()), raw);
  }
  static std::function<bool(const One&)> touches(uint64_t address, uint64_t size, Touch how) {
    return [=](const One& one) {
      return std::ranges::any_of(one.stores, [&](const Store& store) {
        const bool kind = how == Touch::Any || (how == Touch::Write) == store.write;
        return kind && store.address >= address && store.address - address < size;
      });
    };
  }
  std::optional<Touched> touched(std::optional<uint64_t> step, uint64_t address,
                                 uint64_t size) const {
    if (!step) return std::nullopt;
    for (const Store& store : steps_[*step].stores)
      if (store.address >= address && store.address - address < size)
        return Touched{*step, store.address};
    return std::nullopt;
  }
  std::optional<uint64_t> next(uint64_t from, const std::function<bool(const One&)>& is) const {
    for (uint64_t i = from; i < count(); ++i)
      if (is(steps_[i])) return i;
    return std::nullopt;
  }
  std::optional<uint64_t> last(uint64_t before, const std::function<bool(const One&)>& is) const {
    for (uint64_t i = before; i-- > 0;)
      if (is(steps_[i])) return i;
    return std::nullopt;
  }
  std::vector<One> steps_;
};

/// Two threads: 7 runs 1000 1004 1008 in a loop and writes to 5000; 9 comes between.
NaiveHistory two_threads() {
  return NaiveHistory({{7, 0x1000, {}},
                       {7, 0x1004, {{0x5000, 1}}},
                       {7, 0x1008, {}},
                       {9, 0x2000, {{0x5000, 1, false}}},
                       {9, 0x2004, {{0x5001, 3}}},
                       {7, 0x1000, {}},
                       {7, 0x1004, {{0x5000, 4}}},
                       {9, 0x2008, {}},
                       {7, 0x1008, {}},
                       {7, 0x100c, {{0x5000, 5}}}});
}

class Travel : public ::testing::Test {
 protected:
  Travel() : target_(catalog(), {}, history_) {}
  Catalog catalog() {
    Catalog out;
    out.machine = "x86-64";
    out.registers = history_.layout;
    return out;
  }
  TimeTravel& time() { return *target_.time_travel(); }
  void point(Point kind, uint64_t address, uint32_t size = 1) {
    ASSERT_TRUE(target_.breakpoints()->insert(HistoryTarget::kPid, kind, address, size).ok());
  }
  StopEvent told() {
    auto event = target_.wait();
    while (event.ok() && !*event) event = target_.wait();
    EXPECT_TRUE(event.ok());
    return event.ok() && *event ? **event : StopEvent{};
  }
  StopEvent go(ResumeAction::Kind kind = ResumeAction::Kind::Continue, Tid tid = 7) {
    std::vector<ResumeAction> actions = {{.tid = tid, .kind = kind}};
    EXPECT_TRUE(target_.resume(actions).ok());
    return told();
  }
  StopEvent back(Tid tid, bool step) {
    EXPECT_TRUE(time().back(tid, step).ok());
    return told();
  }
  void expect(const StopEvent& event, Kind kind, Tid tid, uint64_t now) {
    EXPECT_EQ(event.kind, kind);
    EXPECT_EQ(event.tid, tid);
    EXPECT_EQ(time().now(), now);
  }
  uint64_t reg(Tid tid, std::string_view name) {
    const Register* one = history_.layout.find(name);
    std::vector<uint8_t> block(history_.layout.size_bytes);
    EXPECT_TRUE(target_.read_registers(tid, block).ok());
    uint64_t value = 0;
    for (uint32_t i = 8; i-- > 0;) value = value << 8 | block[one->offset + i];
    return value;
  }

  NaiveHistory history_ = two_threads();
  HistoryTarget target_;
};

TEST_F(Travel, ToTheEndAndBack) {
  EXPECT_EQ(time().moments(), 10u);
  EXPECT_EQ(reg(7, "rip"), 0x1000u);
  expect(go(), Kind::HistoryEnd, 7, 9);
  EXPECT_EQ(reg(7, "rip"), 0x100cu);  // the last step is not done
  expect(go(), Kind::HistoryEnd, 7, 9);
  expect(go(ResumeAction::Kind::Step), Kind::HistoryEnd, 7, 9);
  expect(back(7, false), Kind::HistoryBegin, 7, 0);
  expect(back(7, true), Kind::HistoryBegin, 7, 0);
}

TEST_F(Travel, StepsOfAThreadTakeTheOthersAlong) {
  expect(go(ResumeAction::Kind::Step), Kind::Stepped, 7, 1);
  expect(go(ResumeAction::Kind::Step), Kind::Stepped, 7, 2);
  expect(go(ResumeAction::Kind::Step), Kind::Stepped, 7, 3);
  EXPECT_EQ(reg(7, "rip"), 0x1000u);  // where it will go on
  EXPECT_EQ(reg(9, "rip"), 0x2000u);
  expect(go(ResumeAction::Kind::Step, 9), Kind::Stepped, 9, 4);
  expect(go(ResumeAction::Kind::Step), Kind::Stepped, 7, 6);
  expect(back(7, true), Kind::Stepped, 7, 5);
  expect(back(7, true), Kind::Stepped, 7, 2);
  expect(back(9, true), Kind::HistoryBegin, 7, 0);
  ASSERT_TRUE(time().go_to(8).ok());
  EXPECT_EQ(reg(9, "rip"), 0x2008u);  // its last: it stands there for ever
  expect(back(9, true), Kind::Stepped, 9, 7);
}

TEST_F(Travel, BreakpointsInBothDirections) {
  point(Point::Software, 0x1004);
  point(Point::Hardware, 0x2004);
  expect(go(), Kind::Breakpoint, 7, 1);
  expect(go(), Kind::Hardware, 9, 4);
  expect(go(), Kind::Breakpoint, 7, 6);
  expect(go(), Kind::HistoryEnd, 7, 9);
  expect(back(7, false), Kind::Breakpoint, 7, 6);
  expect(back(7, false), Kind::Hardware, 9, 4);
  // Another thread's breakpoint comes before the end of a step.
  ASSERT_TRUE(time().go_to(3).ok());
  expect(go(ResumeAction::Kind::Step), Kind::Hardware, 9, 4);
  ASSERT_TRUE(time().go_to(5).ok());
  expect(back(7, true), Kind::Hardware, 9, 4);
  ASSERT_TRUE(
      target_.breakpoints()->remove(HistoryTarget::kPid, Point::Hardware, 0x2004, 1).ok());
  expect(back(7, false), Kind::Breakpoint, 7, 1);
}

TEST_F(Travel, WatchpointsStopAfterAnAccessAndBackwardsBeforeIt) {
  point(Point::WriteWatch, 0x5000);
  const StopEvent first = go();
  expect(first, Kind::Watchpoint, 7, 2);
  EXPECT_EQ(first.address, 0x5000u);
  expect(go(), Kind::Watchpoint, 7, 7);
  expect(go(), Kind::HistoryEnd, 7, 9);  // what the last step does is not done
  expect(back(7, false), Kind::Watchpoint, 7, 6);
  uint8_t byte = 0;
  EXPECT_EQ(target_.read_memory(HistoryTarget::kPid, 0x5000, {&byte, 1}), 1u);
  EXPECT_EQ(byte, 1);  // before the 4
  expect(back(7, false), Kind::Watchpoint, 7, 1);
  EXPECT_EQ(target_.read_memory(HistoryTarget::kPid, 0x5000, {&byte, 1}), 0u);  // unknown
  expect(back(7, false), Kind::HistoryBegin, 7, 0);
}

TEST_F(Travel, ReadsAndAnyAccesses) {
  point(Point::ReadWatch, 0x5000, 2);
  expect(go(), Kind::Watchpoint, 9, 4);
  expect(go(), Kind::HistoryEnd, 7, 9);
  point(Point::AccessWatch, 0x5001, 1);
  const StopEvent touched = back(7, false);
  expect(touched, Kind::Watchpoint, 9, 4);
  EXPECT_EQ(touched.address, 0x5001u);
  expect(back(7, false), Kind::Watchpoint, 9, 3);
}

TEST_F(Travel, RangeSteps) {
  std::vector<ResumeAction> actions = {{.tid = 7,
                                        .kind = ResumeAction::Kind::RangeStep,
                                        .range_start = 0x1000,
                                        .range_end = 0x100c}};
  ASSERT_TRUE(target_.resume(actions).ok());
  expect(told(), Kind::Stepped, 7, 9);
}

TEST_F(Travel, UnknownRegistersAreSaidToBe) {
  const std::vector<uint8_t> known = target_.known_registers(7);
  const auto bit = [&](std::string_view name) {
    const auto index =
        static_cast<size_t>(history_.layout.find(name) - history_.layout.registers.data());
    return known.at(index / 8) >> (index % 8) & 1;
  };
  EXPECT_EQ(bit("rax"), 1);
  EXPECT_EQ(bit("rip"), 1);
  EXPECT_EQ(bit("rbx"), 0);
}

TEST_F(Travel, ThePcIsThatOfTheStep) {
  history_.tells_rip = false;
  EXPECT_EQ(reg(7, "rip"), 0x1000u);
  expect(go(ResumeAction::Kind::Step), Kind::Stepped, 7, 1);
  EXPECT_EQ(reg(7, "rip"), 0x1004u);
  const size_t pc = *history_.layout.pc_index;
  EXPECT_EQ(target_.known_registers(7).at(pc / 8) >> (pc % 8) & 1, 1);
}

TEST_F(Travel, WhatIsNotThere) {
  EXPECT_FALSE(time().go_to(10).ok());
  EXPECT_FALSE(time().back(8, true).ok());
  std::vector<ResumeAction> nobody = {{.tid = 8}};
  EXPECT_FALSE(target_.resume(nobody).ok());
  EXPECT_FALSE(target_.wait().ok());
  EXPECT_FALSE(target_.write_memory(HistoryTarget::kPid, 0x5000, {}).ok());
}

TEST(TravelThreads, NamesArePositiveAndOfTheirOwn) {
  NaiveHistory history({{0, 1, {}}, {1, 2, {}}, {uint64_t{1} << 63, 3, {}}});
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = history.layout;
  HistoryTarget target(catalog, {}, history);
  std::vector<Tid> names;
  for (const ThreadInfo& thread : target.threads(0)) names.push_back(thread.tid);
  EXPECT_EQ(names, (std::vector<Tid>{2, 1, 3}));
}

TEST_F(Travel, AnInterruptEndsARun) {
  std::vector<ResumeAction> actions = {{.tid = 7}};
  ASSERT_TRUE(target_.resume(actions).ok());
  ASSERT_TRUE(target_.interrupt().ok());
  expect(told(), Kind::Interrupted, 7, 0);
}

/// What a search for many watchpoints takes, of a long trace: it is ended between two of them.
TEST_F(Travel, AnInterruptEndsASearch) {
  for (uint64_t i = 0; i < 100; ++i) point(Point::WriteWatch, 0x6000 + i);
  history_.on_search = [&] {
    if (history_.searches == 3) {
      ASSERT_TRUE(target_.interrupt().ok());
    }
  };
  for (const bool back : {false, true}) {
    ASSERT_TRUE(time().go_to(5).ok());
    history_.searches = 0;
    expect(back ? this->back(7, false) : go(), Kind::Interrupted, 7, 5);
    EXPECT_EQ(history_.searches, 3u);
  }
}

/// Then whoever waits looks at what else there is, and the search goes on where it was.
TEST_F(Travel, LongSearchesTakeTurns) {
  for (const uint64_t address : {0x6000, 0x5000, 0x6001}) point(Point::WriteWatch, address);
  history_.on_search = [] { std::this_thread::sleep_for(std::chrono::milliseconds(150)); };
  std::vector<ResumeAction> actions = {{.tid = 7}};
  ASSERT_TRUE(target_.resume(actions).ok());
  for (uint64_t i = 1; i <= 2; ++i) {
    const auto event = target_.wait();
    ASSERT_TRUE(event.ok());
    EXPECT_FALSE(event->has_value());
    EXPECT_EQ(history_.searches, i);
  }
  expect(told(), Kind::Watchpoint, 7, 2);
  EXPECT_EQ(history_.searches, 3u);
}

/// A debugger's `next` over a long loop: the same watchpoint is not looked for at each step.
TEST(TravelSearches, ManyStepsSearchOnce) {
  std::vector<NaiveHistory::One> steps(1000, {7, 0x1000, {}});
  steps[900].stores = {{0x5000, 1}};
  steps[999].pc = 0x2000;
  NaiveHistory history(std::move(steps));
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = history.layout;
  HistoryTarget target(catalog, {}, history);
  for (const uint64_t address : {0x5000, 0x6000})
    ASSERT_TRUE(target.breakpoints()
                    ->insert(HistoryTarget::kPid, Point::WriteWatch, address, 4)
                    .ok());
  std::vector<ResumeAction> actions = {{.tid = 7,
                                        .kind = ResumeAction::Kind::RangeStep,
                                        .signal = 0,
                                        .range_start = 0x1000,
                                        .range_end = 0x1004}};
  const auto go = [&] {
    EXPECT_TRUE(target.resume(actions).ok());
    auto event = target.wait();
    while (event.ok() && !*event) event = target.wait();
    return event.ok() ? (*event)->kind : Kind::Exited;
  };
  EXPECT_EQ(go(), Kind::Watchpoint);
  EXPECT_EQ(target.time_travel()->now(), 901u);
  EXPECT_EQ(history.searches, 2u);
  EXPECT_EQ(go(), Kind::Stepped);
  EXPECT_EQ(target.time_travel()->now(), 999u);
  EXPECT_EQ(history.searches, 4u);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(target.time_travel()->back(7, true).ok());
    const auto event = target.wait();
    ASSERT_TRUE(event.ok());
  }
  EXPECT_EQ(history.searches, 6u);
}

/// Wherever one has come from, and whatever was looked for on the way.
TEST(TravelSearches, WhatIsKnownHolds) {
  std::mt19937 random(7);
  const auto some = [&](uint64_t most) { return random() % most; };
  std::vector<NaiveHistory::One> steps;
  for (int i = 0; i < 60; ++i) {
    steps.push_back({7 + some(2), 0x1000 + some(12), {}});
    if (some(3) == 0) steps.back().stores = {{0x5000 + some(6), 1, some(2) == 0}};
  }
  NaiveHistory history(std::move(steps));
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = history.layout;
  HistoryTarget one(catalog, {}, history);
  constexpr Point kKinds[] = {Point::Software, Point::Hardware, Point::WriteWatch, Point::ReadWatch,
                              Point::AccessWatch};
  std::vector<std::pair<Point, uint64_t>> points;
  for (int i = 0; i < 20'000; ++i) {
    if (some(40) == 0) {
      for (const auto& [kind, address] : points)
        ASSERT_TRUE(one.breakpoints()->remove(HistoryTarget::kPid, kind, address, 2).ok());
      points.clear();
      for (uint64_t count = some(4); count > 0; --count) {
        const Point kind = kKinds[some(std::size(kKinds))];
        points.emplace_back(kind, kind < Point::WriteWatch ? 0x1000 + some(12) : 0x5000 + some(6));
      }
      for (const auto& [kind, address] : points)
        ASSERT_TRUE(one.breakpoints()->insert(HistoryTarget::kPid, kind, address, 2).ok());
    }
    if (some(20) == 0) {
      ASSERT_TRUE(one.time_travel()->go_to(some(60)).ok());
    }
    // Another one knows nothing of before.
    HistoryTarget anew(catalog, {}, history);
    for (const auto& [kind, address] : points)
      ASSERT_TRUE(anew.breakpoints()->insert(HistoryTarget::kPid, kind, address, 2).ok());
    ASSERT_TRUE(anew.time_travel()->go_to(one.time_travel()->now()).ok());
    const bool back = some(2) == 0, step = some(8) != 0;
    const auto tid = static_cast<Tid>(7 + some(2));
    std::vector<ResumeAction> actions = {
        {.tid = tid,
         .kind = step ? ResumeAction::Kind::Step : ResumeAction::Kind::Continue,
         .signal = 0,
         .range_start = 0,
         .range_end = 0}};
    StopEvent told[2];
    HistoryTarget* const both[] = {&one, &anew};
    for (size_t which = 0; which < 2; ++which) {
      HistoryTarget& target = *both[which];
      ASSERT_TRUE((back ? target.time_travel()->back(tid, step) : target.resume(actions)).ok());
      auto event = target.wait();
      while (event.ok() && !*event) event = target.wait();
      ASSERT_TRUE(event.ok());
      told[which] = **event;
    }
    ASSERT_EQ(one.time_travel()->now(), anew.time_travel()->now());
    ASSERT_EQ(told[0].kind, told[1].kind);
    ASSERT_EQ(told[0].tid, told[1].tid);
    ASSERT_EQ(told[0].address, told[1].address);
  }
}

}  // namespace
}  // namespace tracewell::target
