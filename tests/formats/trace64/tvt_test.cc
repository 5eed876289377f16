// Through the form of the execution trace viewer and back: registers that only x64dbg has.
#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "formats/trace64/model.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

TEST(Trace64, RegistersOfTheRecorderSurviveTheViewersForm) {
  for (const bool wide : {true, false}) {
    RandomProgram program(5, wide, 1, 0);
    const std::string bytes =
        head(wide ? kJson64 : kJson32) + record(program.run(40), {.wide = wide});
    Opened first(bytes, "trace64");
    const std::string rows = written(*first.source, "tvt");
    Opened second(rows, "tvt");
    const std::string again = written(*second.source, "trace64");
    EXPECT_EQ(second.problems->count(), 0u);
    const RegisterLayout& layout = first.source->catalog().registers;
    auto before = registers_of(bytes), after = registers_of(again);
    ASSERT_EQ(before.size(), 39u);
    ASSERT_EQ(after.size(), 39u);
    size_t compared = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      for (uint32_t index = 0; index < layout.registers.size(); ++index) {
        const Register& one = layout.registers[index];
        if (one.size_bytes > 8 || !before[i].is_valid(index)) continue;
        ++compared;
        ASSERT_TRUE(after[i].is_valid(index)) << one.name << " of step " << i;
        EXPECT_TRUE(std::equal(before[i].block.begin() + one.offset,
                               before[i].block.begin() + one.offset + one.size_bytes,
                               after[i].block.begin() + one.offset))
            << one.name << " of step " << i;
      }
    }
    EXPECT_GT(compared, 39u * 25);
    ASSERT_NE(layout.find("last_error"), nullptr);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
