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
  for (const std::string place : {"12", "/src/p.c:12", "::leaf"}) {
    EXPECT_EQ(texts(for_gdb(at(place), nothing)), "*0x401106") << place;
    EXPECT_EQ(texts(for_gdb(at(place), symbols)), place);
  }
}

TEST(ForGdb, PlacesAreLookedUpAndNothingElse) {
  const GdbMeans nothing{.symbols = false, .code = false}, symbols;
  for (const std::string place :
       {"leaf", "a::b<int, c<2>>::d(char const*, int (&)[3])", "./dir-1/p+q.cc:12", "p.c:leaf",
        "p.c:leaf:label", "~/p.c:3", "memcpy@plt", "~A", "gr\xc3\xb6\xc3\x9f" "e", "12",
        "/srv/My Project #2/t c.c:12", "(anonymous namespace)::f", "A::f(int) const"})
    EXPECT_EQ(texts(for_gdb(at(place), symbols)), place);
  for (const std::string place :
       {"*leaf + 4", "*$pc", "*'p.c'::leaf", "*$_shell(\"id\")", "*($a = 1, &leaf)", "*0x401106+$a",
        " *0x401106", "*0x", "+3", "-3", "-line 3", "-function leaf $a", "-source p.c -line $a",
        "$a", "/a b.c:$a", "/a -force-condition b:1", "/a if b:1", "/a, b.c:1", "/a b.c:1 if c",
        "-function -function leaf", "-function *$a", "f const", "(anonymous namespace)::",
        "leaf if $_shell(1)", "leaf thread 1", "leaf task 1", "-force-condition leaf", "leaf, $a",
        "p.c:*leaf", "leaf($a)", "'p.c':12", "\"p.c\":12", "-[A b]", "a::operator=", "leaf\x1b[2J",
        "leaf\n", "leaf\xc2\x9b", "leaf)", "leaf<3"}) {
    EXPECT_EQ(texts(for_gdb(at(place), symbols)), "*0x401106") << place;
    EXPECT_EQ(texts(for_gdb(at(place), nothing)), "*0x401106") << place;
  }
  EXPECT_EQ(texts(for_gdb(at("-function leaf"), symbols)), "leaf");
  EXPECT_EQ(texts(for_gdb(at("-source p.c -line 3"), symbols)), "p.c:3");
  const std::string name(256, 'a');
  EXPECT_EQ(texts(for_gdb(at(name), symbols)), name);
  EXPECT_EQ(texts(for_gdb(at(name + "(*leaf)"), symbols)), "*0x401106");
  // Of several, GDB takes the last one.
  EXPECT_EQ(texts(for_gdb(at("leaf", {{"at", "*$a"}}), symbols)), "leaf; *0x401106");
  EXPECT_EQ(texts(for_gdb(at("leaf", {{"at:0:2", "*$a"}}), symbols)), "leaf");
}

TEST(ForGdb, NothingIsEvaluated) {
  for (const std::string text :
       {"$_shell(\"id\")", "1 + $f  (2)", "($f)(1)", "(0, $f) (1)", "(1 ? $f : $f)(1)", "leaf(1)",
        "'$f'(1)", "$a[0](1)", "sizeof(int) == $f\t(1)", "(char)$f(1)", "((($f)))(1)",
        "$_sdata+(1?$_shell:\"+(\")(\"id\")", "(1 ? $f : \"+(\")(1)", "$rip+(1?$_f:'(')(1)",
        "($_as_string)[0]+(1)", "*(char*)$f(1)", "$f(*p)", "($f)(*p)", "(char)$f (&a)",
        "(0, $f)(*p)", "f($f)(*p)"}) {
    EXPECT_EQ(texts(for_gdb(at("leaf", {{"cond", text}}), {})), "leaf") << text;
    for (const std::string word : {"collect ", "collect/s ", "\tc $regs, ", "collect $regs,$args,",
                                   "teval ", "te "})
      EXPECT_EQ(texts(for_gdb(at("leaf", {{"cmd", word + text}}), {})), "leaf") << word << text;
  }
  for (const std::string line :
       {"collect $a = 1", "collect $regs, $a += 1", "collect a <<= 1", "collect a >>= 1",
        "collect a :=1", "collect $a++", "collect --$a", "collect a /= 2", "collect a == b = c",
        "python", "python print(1)", "shell id", "printf \"%d\", $_shell(1)", "if $f(1)", "while 1",
        "while collect $regs", "step", "commands", "collect-x", "define x", "| collect",
        "collect/s$_sdata+$_shell(\"id\")", "collect/s80$a", "collect/x a", "collect/ a",
        "collect/s8x a", "collect/s80/s a", "teval/s a", "teval/s$_shell(\"id\")",
        "collect $_sdata,\"(\",$_shell(\"id\")", "collect $_sdata + a", "collect $regs, $argc",
        "collect $Locals", "end x\x1b"})
    EXPECT_EQ(texts(for_gdb(at("leaf", {{"cmd", line}}), {})), "leaf") << line;
  for (const std::string text : {"n == 1\x1b", "n\n", "n == '\xc2\x9b'"})
    EXPECT_EQ(texts(for_gdb(at("leaf", {{"cond", text}, {"cmd", "collect " + text}}), {})), "leaf");
}

TEST(ForGdb, WhatTracesOfGdbHaveStays) {
  const std::vector<TracepointDef::Source> more = {
      {"cond", "n != 3 && (char)($tv) <= *(long *)($rsp+8) && sizeof (n) >= 4 && !(a == b)"},
      {"cmd", "collect $regs, $args,$locals, $_ret, $_sdata, $_siginfo"},
      {"cmd", "collect *(unsigned long *)($rsp + 8)@2, p->field[(i)], *((char **)p), a - -b"},
      {"cmd", "  collect/s20\t*(char**)$rdi, (unsigned)(n), a << (b), (struct s *)(p)"},
      {"cmd", "collect/s (char *) p, *(char (*)[16]) p, *(int(*)[4])p"},
      {"cmd", "collect/s80 (char *) p"},
      {"cond", "a >= 1 and (x >= 0) or not (b)"},
      {"cond", "c == 'x' && (n) != $tv && $_exitcode == 1"},
      {"cmd", "teval $tv = ($tv) + 1"},
      {"cmd", "while-stepping 3"},
      {"cmd", "stepping 3"},
      {"cmd", "ws 3"},
      {"cmd", "while-s 3"},
      {"cmd", "# collect nothing"},
      {"cmd", ""},
      {"cmd", "end"},
      {"other", "text"}};
  EXPECT_EQ(texts(for_gdb(at("leaf", more), {})), texts(at("leaf", more)));
}

/// Each piece of a text is a line to GDB.
TEST(ForGdb, TextsAreOnePiece) {
  const std::string fits = '#' + std::string(99, 'a');
  for (const std::string type : {"cmd", "cond"}) {
    const std::string text = type == "cmd" ? fits : "n == " + std::string(95, '1');
    const TracepointDef definition = at("leaf", {{type, text}});
    EXPECT_EQ(texts(for_gdb(definition, {.piece_bytes = 100})), "leaf; " + text);
    EXPECT_EQ(texts(for_gdb(definition, {.piece_bytes = 99})), "leaf");
  }
}

TEST(ForGdb, LongTextsTakeTimeInProportion) {
  std::string deep, flat = "collect ";
  for (int i = 0; i < 2'000'000; ++i) deep += "(", flat += "(a)(b)";
  const GdbMeans means{.piece_bytes = 1 << 30};
  EXPECT_EQ(texts(for_gdb(at("leaf", {{"cond", deep}}), means)), "leaf");
  EXPECT_EQ(texts(for_gdb(at("leaf", {{"cmd", flat}}), means)), "leaf; " + flat);
}

TEST(ForGdb, WhatIsShownIsPrintable) {
  RunStatus status;
  status.stop_text = "a\x1b[2J";
  status.notes = "b\n\xc2\x9b";
  status.user_name = "\xe2\x80\xae" "c";
  const RunStatus shown = for_gdb(status);
  EXPECT_EQ(shown.stop_text, "a\\x1b[2J");
  EXPECT_EQ(shown.notes, "b\\x0a\\xc2\\x9b");
  EXPECT_EQ(shown.user_name, "\\xe2\\x80\\xaec");
  VariableDef variable;
  variable.name = "v\a";
  EXPECT_EQ(for_gdb(variable).name, "v\\x07");
  VariableDef assigns;
  assigns.name = "x = f(1)";
  EXPECT_EQ(for_gdb(assigns).name, "x _ f(1)");

  Catalog catalog;
  EXPECT_TRUE(is_fit_for_gdb(catalog));
  catalog.tracepoints = {at("leaf", {{"cmd", "collect $regs"}})};
  EXPECT_TRUE(is_fit_for_gdb(catalog));
  const auto with = [&](auto change) {
    Catalog other = catalog;
    change(other);
    return is_fit_for_gdb(other);
  };
  EXPECT_FALSE(with([&](Catalog& one) { one.status = status; }));
  EXPECT_FALSE(with([&](Catalog& one) { one.variables = {variable}; }));
  EXPECT_FALSE(with([&](Catalog& one) { one.variables = {assigns}; }));
  EXPECT_FALSE(with([](Catalog& one) { one.target_description = "&#155;"; }));
  EXPECT_FALSE(with([](Catalog& one) { one.tracepoints[0].sources[0].text = "*$f(1)"; }));
  EXPECT_FALSE(with([](Catalog& one) { one.tracepoints[0].sources[1].text = "collect $f(1)"; }));
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
