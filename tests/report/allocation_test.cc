// Rendering allocates nothing for an event, once it is warm.
#include <cstdint>

#include <gtest/gtest.h>

#include "counted_allocations.h"
#include "rendering.h"

namespace tracewell::report {
namespace {

TEST(ReportAllocation, AnEventAllocatesNothing) {
  const Compiled compiled(
      "010 1.0 \"L\" {{ $a = $D1 * 2 }} $a%D4 `x=$a/$D2%X8` \\n \"t\" G8 LOOP $HL {X0} G8 F8 T4 "
      "\\t $HD, 1 \"one\", \\* { G8 A4, abcd \"x\", \\* \"y\" } BITFLAGS $D1, 1 \"a\" \"b\" E1 "
      "$011 endtimer(1, $TID) starttimer(1, $TID) {{ $b = 1 / $D5 }} G100 X8\n"
      "011 1.0 \"sub\" $EXECPATH P4 S1");
  ASSERT_EQ(compiled.errors(), 0u) << compiled.all();
  const OwnedEntry owned("80000010010000000102030405060708090a0b0c0d0e0f10");
  const OwnedEntry raw("80000010099000000102030405060708090a0b0c0d0e0f10");
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  for (int i = 0; i < 2; ++i) {
    renderer.render(owned.entry, 8);
    renderer.render(raw.entry, 8);
    out.clear();
  }
  const uint64_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    renderer.render(owned.entry, 8);
    renderer.render(raw.entry, 8);
    out.clear();
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace tracewell::report
