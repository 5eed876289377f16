// Errors: one line for people, stable codes and causes for programs.
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tracewell {
namespace {

using Texts = std::vector<std::string_view>;

TEST(Error, CausesAreTheContextsAndWhatWentWrong) {
  Error error{Errc::Corrupt, "register block is cut: 3 of 8 bytes", 0x20};
  EXPECT_EQ(error.causes(), Texts{"register block is cut: 3 of 8 bytes"});
  error = std::move(error).within("frame 12");
  error = std::move(error).within("a: b.tf");
  EXPECT_EQ(error.message, "a: b.tf: frame 12: register block is cut: 3 of 8 bytes");
  EXPECT_EQ(error.causes(),
            (Texts{"a: b.tf", "frame 12", "register block is cut: 3 of 8 bytes"}));
  EXPECT_EQ(error.text(),
            "a: b.tf: frame 12: register block is cut: 3 of 8 bytes (at byte 0x20)");
}

TEST(Error, AMessageThatWasCutHasFewerCauses) {
  Error error = Error{Errc::Io, "no", {}}.within("a long context");
  error.message = "short";
  EXPECT_EQ(error.causes(), Texts{"short"});
}

TEST(Error, StableCodesAreThoseOfTheFailureOrOfItsKind) {
  const Status any(Errc::NotFound, "nothing");
  EXPECT_EQ(any.error().stable_code(), "not-found");
  const Result<int> step(Errc::InvalidArgument, "there is no step 9", failures::kNoSuchStep);
  EXPECT_EQ(step.error().stable_code(), "no-such-step");
  EXPECT_EQ(Error(step.error()).within("at").stable_code(), "no-such-step");
}

}  // namespace
}  // namespace tracewell
