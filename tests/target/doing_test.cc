// Walks the tables of what a thread may be in the middle of: each turn is made in each state. What
// is in the table is what happens, and nothing else happens.
#include "target/linux/threads/doing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "target/linux/inject/lent.h"

namespace tracewell::target::live {
namespace {

template <typename Row>
auto rows_of(std::span<const Row> table) {
  std::set<std::tuple<decltype(Row::turn), decltype(Row::from), decltype(Row::to)>> out;
  for (const Row& row : table) {
    EXPECT_FALSE(row.by.empty());
    EXPECT_TRUE(out.emplace(row.turn, row.from, row.to).second) << "twice: " << row.by;
  }
  return out;
}

constexpr uint64_t kSite = 0x401000, kElsewhere = 0x402000;

SingleStep a_step() {
  SingleStep step;
  step.from = kSite;
  step.enters_handler = true;
  return step;
}

/// Each way to be in each state, by turns that tests below find to be legal.
std::vector<Doing> each_doing() {
  std::vector<Doing> out(2);
  EXPECT_TRUE(out[1].begin_step(a_step()));
  for (const bool steps : {false, true}) {
    const Doing before = out[steps ? 1 : 0];
    Doing call = before, stepped_call = before, leaves = before, lent = before;
    EXPECT_TRUE(call.enter_site(kSite) && stepped_call.enter_site(kSite));
    EXPECT_TRUE(stepped_call.begin_step(a_step()));
    EXPECT_TRUE(leaves.leave_code({}));
    EXPECT_TRUE(lent.lend(std::make_shared<Lent>()));
    out.insert(out.end(), {call, stepped_call, leaves, lent});
  }
  return out;
}

const std::map<Doing::Turn, std::function<bool(Doing&)>> kDoingTurns = {
    {Doing::Turn::Run, [](Doing& one) { return one.run(); }},
    {Doing::Turn::Step, [](Doing& one) { return one.begin_step(a_step()); }},
    {Doing::Turn::EnterSite, [](Doing& one) { return one.enter_site(kSite); }},
    {Doing::Turn::MissSite, [](Doing& one) { return one.miss_site(); }},
    {Doing::Turn::EndCall, [](Doing& one) { return one.end_call(); }},
    {Doing::Turn::LeaveCode, [](Doing& one) { return one.leave_code({}); }},
    {Doing::Turn::ComeOut, [](Doing& one) { return one.come_out().has_value(); }},
    {Doing::Turn::Lend, [](Doing& one) { return one.lend(std::make_shared<Lent>()); }},
    {Doing::Turn::GiveBack, [](Doing& one) { return one.give_back() != nullptr; }},
};

TEST(DoingTable, IsWhatHappens) {
  const auto legal = rows_of(Doing::table());
  auto unseen = legal;
  for (const Doing& before : each_doing()) {
    for (const auto& [turn, make] : kDoingTurns) {
      Doing now = before;
      const bool done = make(now);
      SCOPED_TRACE(testing::Message() << "turn " << static_cast<int>(turn) << " in state "
                                      << static_cast<int>(before.state()));
      EXPECT_EQ(done, before.may(turn));
      EXPECT_EQ(done, !now.take_refusal().has_value());
      if (done) {
        EXPECT_TRUE(legal.contains({turn, before.state(), now.state()}));
        unseen.erase({turn, before.state(), now.state()});
      } else {
        EXPECT_EQ(now.state(), before.state());
        EXPECT_EQ(now.step() != nullptr, before.step() != nullptr);
        EXPECT_EQ(now.lent(), before.lent());
      }
    }
  }
  EXPECT_TRUE(unseen.empty()) << unseen.size() << " rows of the table cannot happen";
}

TEST(DoingTable, HasAllTurnsAndStates) {
  std::set<Doing::Turn> turns;
  std::set<Doing::State> states;
  for (const Doing::Row& row : Doing::table()) {
    turns.insert(row.turn);
    states.insert({row.from, row.to});
  }
  EXPECT_EQ(turns.size(), static_cast<size_t>(Doing::Turn::GiveBack) + 1);
  EXPECT_EQ(turns.size(), kDoingTurns.size());
  EXPECT_EQ(states.size(), static_cast<size_t>(Doing::State::LentOut) + 1);
}

TEST(Doing, IsAfterwardsWhatItWasBefore) {
  Doing one;
  ASSERT_TRUE(one.begin_step(a_step()));
  LeavingCode out;
  out.blocked = 42;
  ASSERT_TRUE(one.leave_code(out));
  ASSERT_NE(one.step(), nullptr);
  one.enters_no_handler();
  EXPECT_EQ(one.come_out()->blocked, 42u);
  ASSERT_EQ(one.state(), Doing::State::SingleStep);
  EXPECT_EQ(one.step()->from, kSite);
  EXPECT_FALSE(one.step()->enters_handler);
  const auto lent = std::make_shared<Lent>();
  ASSERT_TRUE(one.lend(lent));
  EXPECT_EQ(one.lent(), lent);
  ASSERT_NE(one.step(), nullptr);
  EXPECT_EQ(one.give_back(), lent);
  EXPECT_EQ(one.state(), Doing::State::SingleStep);
}

TEST(Doing, ASiteCallIsSteppedOrNotByItsLastStart) {
  Doing one;
  ASSERT_TRUE(one.enter_site(kSite));
  EXPECT_EQ(one.step(), nullptr);
  ASSERT_TRUE(one.begin_step(a_step()));
  EXPECT_EQ(one.site_call()->site, kSite);
  EXPECT_NE(one.step(), nullptr);
  ASSERT_TRUE(one.run());
  EXPECT_EQ(one.site_call()->site, kSite);
  EXPECT_EQ(one.step(), nullptr);
}

TEST(Doing, WhatIsRefusedIsToldInWords) {
  Doing one;
  ASSERT_TRUE(one.lend(std::make_shared<Lent>()));
  EXPECT_FALSE(one.leave_code({}));
  const auto refusal = one.take_refusal();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->turn, "be led out of code of ours");
  EXPECT_EQ(refusal->state, "makes a call for us");
  EXPECT_FALSE(one.take_refusal());
}

/// Each state, with a hit that the debugger has decided about, or not.
std::vector<Counted> each_counted(bool decided) {
  std::vector<Counted> out(4);
  EXPECT_TRUE(out[1].count(kSite, decided));
  EXPECT_TRUE(out[2].count(kSite, false) && out[2].pass(decided));
  EXPECT_TRUE(out[3].count(kSite, false) && out[3].pass(decided) && out[3].restart());
  return out;
}

const std::map<Counted::Turn, std::function<bool(Counted&)>> kCountedTurns = {
    {Counted::Turn::Count, [](Counted& one) { return one.count(kElsewhere, true); }},
    {Counted::Turn::Forget, [](Counted& one) { return one.forget(); }},
    {Counted::Turn::Drop, [](Counted& one) { return one.drop(); }},
    {Counted::Turn::Pass, [](Counted& one) { return one.pass(true); }},
    {Counted::Turn::Settle, [](Counted& one) { return one.settle(kElsewhere); }},
    {Counted::Turn::BePast, [](Counted& one) { return one.be_past(); }},
    {Counted::Turn::Restart, [](Counted& one) { return one.restart(); }},
    {Counted::Turn::EnterCall, [](Counted& one) { return one.enter_call(); }},
    {Counted::Turn::EnterHandler, [](Counted& one) { return one.enter_handler(); }},
    {Counted::Turn::Move, [](Counted& one) { return one.move(); }},
};

TEST(CountedTable, IsWhatHappens) {
  const auto legal = rows_of(Counted::table());
  auto unseen = legal;
  std::set<Counted::Turn> turns;
  for (const bool decided : {false, true}) {
    for (const Counted& before : each_counted(decided)) {
      for (const auto& [turn, make] : kCountedTurns) {
        Counted now = before;
        const bool done = make(now);
        SCOPED_TRACE(testing::Message() << "turn " << static_cast<int>(turn) << " in state "
                                        << static_cast<int>(before.state()));
        EXPECT_EQ(done, !now.take_refusal().has_value());
        const bool may = std::ranges::any_of(Counted::table(), [&](const Counted::Row& row) {
          return row.turn == turn && row.from == before.state();
        });
        EXPECT_EQ(done, may);
        if (!done) {
          EXPECT_EQ(now.state(), before.state());
          EXPECT_EQ(now.site(), before.site());
          EXPECT_EQ(now.decided(), before.decided());
          continue;
        }
        EXPECT_TRUE(legal.contains({turn, before.state(), now.state()}));
        unseen.erase({turn, before.state(), now.state()});
        turns.insert(turn);
        EXPECT_EQ(now.site().has_value(), now.state() == Counted::State::Here ||
                                              now.state() == Counted::State::MayComeBack);
        EXPECT_EQ(now.here().has_value(), now.state() == Counted::State::Here);
        if (now.state() == Counted::State::Nothing) {
          EXPECT_FALSE(now.decided());
        }
      }
    }
  }
  EXPECT_TRUE(unseen.empty()) << unseen.size() << " rows of the table cannot happen";
  EXPECT_EQ(turns.size(), static_cast<size_t>(Counted::Turn::Move) + 1);
}

/// It is known until the thread is past the site, by whatever way that happens.
TEST(Counted, WhatIsDecidedStaysDecided) {
  for (const bool decided : {false, true}) {
    auto each = each_counted(decided);
    for (size_t i = 1; i < each.size(); ++i) EXPECT_EQ(each[i].decided(), decided) << i;
    EXPECT_EQ(each[3].site(), kSite);
    ASSERT_TRUE(each[2].settle(kSite));
    EXPECT_EQ(each[2].here(), kSite);
    EXPECT_EQ(each[2].decided(), decided);
  }
}

TEST(Counted, WhatIsDecidedOfOneSiteIsNotOfAnother) {
  for (Counted& one : each_counted(true)) {
    ASSERT_TRUE(one.settle(kElsewhere));
    EXPECT_EQ(one.here(), kElsewhere);
    EXPECT_FALSE(one.decided());
  }
}

}  // namespace
}  // namespace tracewell::target::live
