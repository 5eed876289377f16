// What of a definition stock GDB 13.1 was seen to take, and what ends its connection.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rsp/definitions.h"
#include "rsp/for_gdb.h"

namespace tracewell::rsp {
namespace {

TracepointDef at(std::string place, std::vector<TracepointDef::Source> more = {}) {
  TracepointDef one;
  one.number = 1;
  one.address = 0x401106;
  one.sources = {{"at", std::move(place)}};
  one.sources.insert(one.sources.end(), more.begin(), more.end());
  return one;
}

/// The texts of its sources, with blanks between them.
std::string texts(const TracepointDef& one) {
  std::string out;
  for (const auto& source : one.sources) out += (out.empty() ? "" : "; ") + source.text;
  return out;
}

TEST(ForGdb, KeepsWhatGdbTakes) {
  const GdbMeans nothing{.symbols = false, .code = false};
  const std::vector<TracepointDef::Source> more = {
      {"cond", "$rip == 0x1f && sizeof(int) == 4 && 'a' == 97 && \"abc\"[0]"},
      {"cmd", "collect $regs, *(unsigned long *)0x404040@2"},
      {"cmd", "collect/s20 *(char**)$rdi"},
      {"cmd", "while-stepping 3"},
      {"cmd", "coll $args,$locals"},
      {"cmd", "end"},
      {"cmd", "teval $tv = $tv + 1.5e3"}};
  for (const std::string place : {"*0x401106", "*0xABCDEF", "leaf", "prog.c:12", "12a", "0x12"})
    EXPECT_EQ(texts(for_gdb(at(place, more), nothing)), texts(at(place, more)));
}

TEST(ForGdb, PlacesThatEndTheConnection) {
  const GdbMeans nothing{.symbols = false, .code = false}, symbols;
  for (const std::string place : {"-m a/b", "-probe-stap a:b", "-probe a:b", ""}) {
    EXPECT_EQ(texts(for_gdb(at(place), nothing)), "*0x401106") << place;
    EXPECT_EQ(texts(for_gdb(at(place), symbols)), "*0x401106") << place;
  }
  for (const std::string place : {"*leaf + 4", "*$pc", "*'p.c'::leaf", "12", "+3", "-line 3"}) {
    EXPECT_EQ(texts(for_gdb(at(place), nothing)), "*0x401106") << place;
    EXPECT_EQ(texts(for_gdb(at(place), symbols)), place);
  }
}

TEST(ForGdb, NamesThatGdbHasNoSymbolsFor) {
  const GdbMeans nothing{.symbols = false, .code = false}, symbols;
  const std::vector<TracepointDef::Source> more = {{"cond", "n > 3"},
                                                   {"cmd", "collect n, $rip"},
                                                   {"cmd", "collect $rip"},
                                                   {"cmd", "collect/s n"},
                                                   {"cmd", "te $tv = n"}};
  EXPECT_EQ(texts(for_gdb(at("*0x401106", more), nothing)), "*0x401106; collect $rip");
  EXPECT_EQ(texts(for_gdb(at("leaf", more), nothing)), texts(at("leaf", more)));
  EXPECT_EQ(texts(for_gdb(at("*0x401106", more), symbols)), texts(at("*0x401106", more)));
  TracepointDef placeless = at("", more);
  placeless.sources.erase(placeless.sources.begin());
  EXPECT_EQ(texts(for_gdb(placeless, nothing)), "collect $rip");
  for (const std::string_view names : {"true", "'p.c'::n", "x$y", "$a + b", "struct s", "'\\n' n"})
    EXPECT_TRUE(has_program_names(names)) << names;
  for (const std::string_view none :
       {"", "\"a b\"", "'\\''", "\"open", "'", "0xabcdef", "$_siginfo"})
    EXPECT_FALSE(has_program_names(none)) << none;
}

TEST(ForGdb, FastOnlyWithCode) {
  TracepointDef fast = at("leaf");
  fast.fast_length = 7;
  EXPECT_EQ(format_definition_body(for_gdb(fast, {})), "E:0:0");
  EXPECT_EQ(format_definition_body(for_gdb(fast, {.symbols = false, .code = true})), "E:0:0:F7");
}

}  // namespace
}  // namespace tracewell::rsp
