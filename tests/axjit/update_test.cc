// Variables that change while an expression computes from them: somebody else stores into the cell
// between the getv and the setv, here whenever the expression asks for the clock.
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "native_runner.h"

namespace tracewell::axjit {
namespace {

struct Rival {
  tracewell_native_context context{};
  uint64_t saved = 5;
  uint64_t cells[4] = {0, 10, 20, 30};
  std::vector<uint64_t> stores;  // into cell 1, one each time the clock is asked for
  size_t asked = 0, recorded = 0;
};

Rival& rival_of(tracewell_native_context* context) {
  return *reinterpret_cast<Rival*>(context);
}

constexpr tracewell_native_calls kRivalCalls = {
    .trace_memory = [](tracewell_native_context* context, uint64_t, uint64_t) {
      ++rival_of(context).recorded;
      return 1;
    },
    .trace_string = nullptr,
    .trace_variable = nullptr,
    .get_variable = [](tracewell_native_context* context, uint64_t) {
      Rival& rival = rival_of(context);
      if (rival.asked < rival.stores.size()) rival.cells[1] = rival.stores[rival.asked];
      ++rival.asked;
      return uint64_t{1};
    },
    .read_memory = nullptr,
    .print = nullptr,
};

class Updates : public testing::Test {
 protected:
  /// Register 0 is `saved`, variables 1 and 2 are cells, 5 is the clock, which says 1.
  WatchedRun run(std::string text) {
    std::erase(text, ' ');
    const RegisterPlace registers[] = {{0, offsetof(Rival, saved), 8}};
    const VariablePlace variables[] = {{1, VariablePlace::Kind::Cell, 8},
                                       {2, VariablePlace::Kind::Cell, 16},
                                       {5, VariablePlace::Kind::Computed, 0}};
    const auto compiled = compile(*from_hex(text), ax::Purpose::Action,
                                  {.registers = registers, .variables = variables});
    EXPECT_TRUE(compiled.ok());
    rival.context.calls = &kRivalCalls;
    rival.context.variables = rival.cells;
    runner_.load(*compiled);
    return runner_.run(rival.context);
  }

  Rival rival;

 private:
  NativeRunner runner_;
};

// getv 1; getv 5; add; setv 1; end
TEST_F(Updates, AreDoneAgainUntilNobodyCameBetween) {
  rival.stores = {100, 200};
  EXPECT_EQ(run("2c0001 2c0005 02 2d0001 27").outcome.value, 201u);
  EXPECT_EQ(rival.cells[1], 201u);
  EXPECT_EQ(rival.asked, 3u);
}

// getv 1; getv 1; add; getv 5; add; setv 1; end
TEST_F(Updates, ReadAgainAllThatWasRead) {
  rival.stores = {100};
  EXPECT_EQ(run("2c0001 2c0001 02 2c0005 02 2d0001 27").outcome.value, 201u);
}

// Eight values that are not touched lie below; then they are added up.
TEST_F(Updates, LeaveWhatLiesBelow) {
  rival.stores = {100};
  const std::string eight = "260000 2202 260000 2202 260000 2202 260000 2202";
  EXPECT_EQ(run(eight + "2c0001 2c0005 02 2d0001 02 02 02 02 02 02 02 02 27").outcome.value,
            4u * 5 + 4 * 2 + 101);
}

// reg 0; getv 1; swap; const8 1; add; swap; getv 5; add; setv 1; pop; end. What was below is 1 more
// only once.
TEST_F(Updates, AreNoneWhereValuesBelowChange) {
  rival.stores = {100};
  EXPECT_EQ(run("260000 2c0001 2b 2201 02 2b 2c0005 02 2d0001 29 27").outcome.value, 6u);
  EXPECT_EQ(rival.cells[1], 11u);
}

// getv 1; dup; trace_quick 4; pop; getv 5; add; setv 1; end. It is recorded once.
TEST_F(Updates, AreNoneAroundAnEffect) {
  rival.stores = {100};
  run("2c0001 28 0d04 29 2c0005 02 2d0001 27");
  EXPECT_EQ(rival.recorded, 1u);
  EXPECT_EQ(rival.cells[1], 11u);
}

// getv 1; const8 7; setv 2; pop; getv 5; add; setv 1; end
TEST_F(Updates, AreNoneAroundAnotherOne) {
  rival.stores = {100};
  run("2c0001 2207 2d0002 29 2c0005 02 2d0001 27");
  EXPECT_EQ(rival.cells[1], 11u);
  EXPECT_EQ(rival.cells[2], 7u);
  EXPECT_EQ(rival.asked, 1u);
}

}  // namespace
}  // namespace tracewell::axjit
