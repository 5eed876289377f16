#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trace/told_problems.h"

namespace tracewell::trace {
namespace {

using Severity = Problem::Severity;

struct ToldOf {
  ToldOf() {
    trace.problems = std::make_unique<ProblemLog>();
    work.notice = [this](std::string_view one) { told.emplace_back(one); };
  }
  void add(int times, const std::string& code, Severity severity) {
    for (int i = 0; i < times; ++i) trace.problems->add({std::nullopt, severity, code, "wrong"});
  }

  OpenTrace trace;
  Work work;
  std::vector<std::string> told;
};

TEST(ToldProblems, AreTheFirstOfEachKind) {
  ToldOf one;
  one.add(5, "frame-cut", Severity::Damage);
  one.add(200, "odd", Severity::Warning);  // of which not all are kept
  one.add(2, "hidden-thread-id", Severity::Warning);
  one.add(7, "remark", Severity::Note);
  tell_problems(one.trace, "x.tf", one.work);
  ASSERT_EQ(one.told.size(), 9u);
  EXPECT_EQ(one.told[0], "x.tf: damage frame-cut: wrong");
  EXPECT_EQ(one.told[3], "x.tf: warning odd: wrong");
  EXPECT_EQ(one.told[6], "x.tf: 2 more of frame-cut; 'tracewell check x.tf' lists them");
  EXPECT_EQ(one.told[7], "x.tf: 197 more of odd; 'tracewell check x.tf' lists them");
  EXPECT_EQ(one.told[8], "x.tf: 2 thread ids put right; 'tracewell check x.tf' lists them");
}

TEST(ToldProblems, MissingStepsAreDoubts) {
  ToldOf one;
  tell_missing_steps(one.trace, "x", one.work);
  EXPECT_TRUE(one.told.empty());
  one.add(3, "missing-steps", Severity::Note);
  SelectionOptions selection;
  tell_losses(one.trace, selection, "x", one.work);
  EXPECT_TRUE(one.told.empty()) << "nothing was chosen";
  selection.where = "pc == 1";
  tell_losses(one.trace, selection, "x", one.work);
  ASSERT_EQ(one.told.size(), 2u);
  EXPECT_EQ(one.told[0],
            "x: note missing-steps: wrong; nobody knows whether they would be in this answer");
  EXPECT_EQ(one.told[1], "x: 2 more of missing-steps; 'tracewell check x' lists them");
}

}  // namespace
}  // namespace tracewell::trace
