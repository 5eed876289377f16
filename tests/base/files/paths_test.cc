#include "base/files/paths.h"

#include <gtest/gtest.h>

namespace tracewell {
namespace {

TEST(Paths, DetoursAreSeen) {
  for (const char* path : {"/a/b.so", "/..a/b..", "/a/.b", "libx.so.1", "linux-vdso.so.1", "/a",
                           ""})
    EXPECT_FALSE(has_detours(path)) << path;
  for (const char* path : {"/a/../b", "/a/./b", "/a//b", "/..", "/.", "/a/", "../a", "./a", "a/b",
                           "a/../b", "/a/b/.."})
    EXPECT_TRUE(has_detours(path)) << path;
}

}  // namespace
}  // namespace tracewell
