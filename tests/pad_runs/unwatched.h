// What patches code of the C library, in a child, is not for sanitizers: they have code of their
// own in it, and in what calls it.
#pragma once

#include <gtest/gtest.h>

#include "sanitized.h"

namespace tracewell::pads {

class Unwatched : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TRACEWELL_SANITIZED
    GTEST_SKIP() << "a sanitizer watches";
#endif
  }
};

}  // namespace tracewell::pads
