// Tables of options: what a command line makes of each kind of row, and what is said of wrong ones.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/options/option.h"
#include "cli/options/parse.h"
#include "cli/options/unknown_option.h"
#include "trace/selection.h"

namespace tracewell::cli {
namespace {

using Texts = std::vector<std::string>;

std::string refuse_dots(const std::string& value) { return value == "." ? "a dot" : ""; }

/// A table with a row of each kind.
struct EachKind {
  bool flag = false, up = true, beside = false, needy = false, secret = false;
  std::string shown, text, file, order;
  std::optional<std::string> maybe;
  uint64_t number = 7, bounded = 1;
  std::optional<uint64_t> other;
  Texts list, pieces, words;
  std::optional<Texts> lists;
  std::string taken;
  OptionTable table{"tool", "Does it"};

  EachKind() {
    add_flags();
    add_values();
    table.footer = "That is all.";
  }

  void add_flags() {
    const auto take = [this](const std::string& value) -> Status {
      taken += "<" + value + ">";
      if (taken.size() > 4) return {Errc::InvalidArgument, "enough of these"};
      return {};
    };
    table.add({
        {.names = "FILE", .to = &file, .what = "a file", .required = true},
        {.names = "WORD", .to = &words, .what = "more"},
        {.names = "-f,--flag", .to = &flag, .what = "a flag"},
        {.names = "--up,!--down", .to = &up, .what = "up or down"},
        {.names = "--shown", .to = &shown, .what = "a flag with a text"},
        {.names = "-t", .to = take, .what = "is called"},
        {.names = "--take", .to = take, .value = "TEXT", .what = "is called"},
        {.names = "--beside", .to = &beside, .what = "not with -f", .excludes = "--flag"},
        {.names = "--needy", .to = &needy, .what = "with -f", .needs = "-f"},
        {.names = "--secret", .to = &secret, .hidden = true},
        {.names = "-Z", .to = Refused{"there is no Z"}, .hidden = true},
        {.names = "--about", .to = ShowText{"tool 1"}, .what = "what it is"},
    });
  }

  void add_values() {
    table.add({
        {.names = "--text", .to = &text, .value = "TEXT", .what = "a text", .check = refuse_dots},
        {.names = "--maybe", .to = &maybe, .value = "TEXT", .what = "a text"},
        {.names = "--order",
         .to = &order,
         .value = "ORDER",
         .what = "an order",
         .otherwise = "little",
         .choices = {"little", "big"},
         .shows_otherwise = true},
        {.names = "--open", .to = &text, .value = "TEXT", .choices = {"a", "b"}, .open = true},
        {.names = "-n,--number", .to = &number, .value = "N", .what = "a number"},
        {.names = "--bounded", .to = &bounded, .value = "N", .what = "a number", .most = 9},
        {.names = "--other", .to = &other, .value = "N", .what = "a number"},
        {.names = "--list", .to = &list, .value = "ONE", .what = "a list"},
        {.names = "--lists", .to = &lists, .value = "ONE", .what = "a list"},
        {.names = "--pieces",
         .to = &pieces,
         .value = "ONE,…",
         .what = "a list",
         .separator = ',',
         .shows_list = true},
    });
  }

  /// "" where the words are taken; what is wrong with them, or what is shown instead.
  std::string said(const Texts& given) {
    const auto shown_text = parse_options(table, given);
    if (!shown_text.ok()) return shown_text.error().message;
    return shown_text->value_or("");
  }
};

TEST(OptionTable, EachKindOfValue) {
  EachKind all;
  EXPECT_EQ(all.said({"file", "-f", "--text", "x", "--maybe", "", "--order=big", "-n", "0x10",
                      "--bounded", "9", "--other", "12", "--open", "c"}),
            "");
  EXPECT_EQ(all.file, "file");
  EXPECT_TRUE(all.flag);
  EXPECT_EQ(all.text, "c") << "the later one of two rows";
  EXPECT_EQ(all.maybe, "");
  EXPECT_EQ(all.order, "big");
  EXPECT_EQ(all.number, 16u);
  EXPECT_EQ(all.bounded, 9u);
  EXPECT_EQ(all.other, 12u);
}

TEST(OptionTable, WhatIsNotGivenStaysAsItIs) {
  EachKind all;
  EXPECT_EQ(all.said({"file"}), "");
  EXPECT_TRUE(all.up);
  EXPECT_EQ(all.number, 7u);
  EXPECT_EQ(all.order, "") << "`otherwise` is words, and sets nothing";
  EXPECT_FALSE(all.maybe || all.other || all.lists);
  EXPECT_TRUE(all.words.empty());
}

TEST(OptionTable, FlagsOfEachKind) {
  EachKind all;
  EXPECT_EQ(all.said({"file", "--down", "--shown", "--secret"}), "");
  EXPECT_FALSE(all.up);
  EXPECT_EQ(all.shown, "true");
  EXPECT_TRUE(all.secret) << "what is hidden is taken";
  EXPECT_EQ(all.said({"file", "--shown=all", "--up", "--flag=false"}), "");
  EXPECT_EQ(all.shown, "all");
  EXPECT_TRUE(all.up);
  EXPECT_FALSE(all.flag);
}

TEST(OptionTable, FunctionsTakeTextAndSayWhatIsWrong) {
  EachKind all;
  EXPECT_EQ(all.said({"file", "-t", "--take", "x"}), "enough of these");
  EXPECT_EQ(all.taken, "<><x>");
}

TEST(OptionTable, Lists) {
  EachKind all;
  EXPECT_EQ(all.said({"--list", "a", "file", "--list", "b,c", "word", "--pieces", "d,e", "more",
                      "--pieces", "f", "--lists", ""}),
            "");
  EXPECT_EQ(all.list, (Texts{"a", "b,c"})) << "one word each time";
  EXPECT_EQ(all.pieces, (Texts{"d", "e", "f"}));
  EXPECT_EQ(all.lists, Texts{""});
  EXPECT_EQ(all.file, "file");
  EXPECT_EQ(all.words, (Texts{"word", "more"}));
}

TEST(OptionTable, WrongValuesAreNamed) {
  const std::pair<Texts, std::string> cases[] = {
      {{}, "FILE is required"},
      {{"f", "--number", "401000"}, ""},
      {{"f", "--number", "40100f"},
       "-n,--number: not a number: 40100f; is 40100f hexadecimal? Then it is 0x40100f"},
      {{"f", "--other", "-1"}, "--other: not a number: -1"},
      {{"f", "--bounded", "10"}, "--bounded: Value 10 not in range 0 to 9"},
      {{"f", "--order", "middle"}, "--order: middle not in {little,big}"},
      {{"f", "--text", "."}, "--text: a dot"},
      {{"f", "--text"}, "--text: 1 required TEXT missing"},
      {{"f", "-Z"}, "-Z: there is no Z"},
      {{"f", "--needy"}, "--needy requires --flag"},
      {{"f", "-f", "--needy"}, ""},
      {{"f", "-f", "--beside"}, "--flag excludes --beside"},
      {{"f", "--beside"}, ""},
      {{"f", "--nothing"}, "The following argument was not expected: --nothing"},
  };
  for (const auto& [words, said] : cases) EXPECT_EQ(EachKind().said(words), said);
}

TEST(OptionTable, HelpIsMadeOfTheRows) {
  EachKind all;
  const std::string help = all.said({"--help"});
  for (const char* part :
       {"Does it\nUsage: tool [OPTIONS] FILE [WORD...]\n", "FILE TEXT REQUIRED", "WORD TEXT ...",
        "--order ORDER:{little,big}=little", "--open TEXT ", "--list ONE ", "--pieces ONE,… ...",
        "--up,--down{false}", "--needy Needs: --flag", "--beside Excludes: --flag",
        "\nThat is all.\n"})
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  for (const char* part : {"--secret", "-Z"}) EXPECT_EQ(help.find(part), std::string::npos) << part;
  EXPECT_EQ(all.said({"--about"}), "tool 1\n");
  all.table.set_help("--help", "this text");
  EXPECT_NE(all.said({"--help"}).find("  --help "), std::string::npos);
  EXPECT_NE(all.said({"file", "-h"}), "");
}

TEST(OptionTable, WordsOfAnotherProgramAreLeftAlone) {
  bool flag = false;
  Texts rest;
  OptionTable table("tool", "");
  table.usage = "[OPTIONS] PROG";
  table.rest = &rest;
  table.add({{.names = "--flag", .to = &flag}});
  ASSERT_TRUE(parse_options(table, {"--flag", "prog", "--flag", "--other", "x"}).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(rest, (Texts{"prog", "--flag", "--other", "x"}));
  EXPECT_NE((*parse_options(table, {"--help"}))->find("Usage: tool [OPTIONS] PROG\n"),
            std::string::npos);
  EXPECT_FALSE(unknown_option(table, Texts{"--flog"})) << "it may be the program's";
}

TEST(OptionTable, Names) {
  const EachKind all;
  EXPECT_EQ(names_of(*all.table.find("-f")), (Texts{"-f", "--flag"}));
  EXPECT_EQ(names_of({.names = "--long,-s", .to = ShowHelp()}), (Texts{"-s", "--long"}));
  EXPECT_EQ(all.table.find("--down"), all.table.find("--up"));
  EXPECT_NE(all.table.find("--secret"), nullptr);
  EXPECT_EQ(all.table.find("FILE"), nullptr) << "a word is no option";
  EXPECT_EQ(all.table.find("--"), nullptr);
  EXPECT_EQ(value_text(*all.table.find("--order")), "ORDER:{little,big}");
  EXPECT_EQ(value_text(*all.table.find("--open")), "TEXT");
  EXPECT_EQ(value_text(*all.table.find("--bounded")), "N:UINT in [0 - 9]");
  EXPECT_EQ(value_text(*all.table.find("--flag")), "");
}

TEST(OptionTable, MistypedNamesAreRecognised) {
  const EachKind all;
  const auto said = [&](const Texts& words) {
    return unknown_option(all.table, words).value_or("");
  };
  EXPECT_EQ(said({"--flog"}), "there is no option --flog; did you mean --flag?");
  EXPECT_EQ(said({"--numbr=3"}), "there is no option --numbr; did you mean --number?");
  EXPECT_EQ(said({"--secrt"}), "there is no option --secrt") << "what is hidden is not told";
  EXPECT_EQ(said({"--hlep"}), "there is no option --hlep; did you mean --help?");
  EXPECT_EQ(said({"--text", "--flog", "--", "--flog"}), "") << "a value, and what is no option";
  EXPECT_EQ(said({"--text=x", "--flog"}), "there is no option --flog; did you mean --flag?");
}

TEST(OptionTable, HexadecimalNumbersAreRecognised) {
  EXPECT_EQ(trace::hex_hint("401000"), "; is 401000 hexadecimal? Then it is 0x401000");
  for (const char* text : {"", "7", "0x10", "12g", "12345678901234567"})
    EXPECT_EQ(trace::hex_hint(text), "") << text;
}

/// A name that `needs` or `excludes` and no row has, or two rows with one name, would show here.
TEST(OptionTable, EachCommandHasAGoodOne) {
  for (const Command& command : commands()) {
    OptionTable table(std::string(command.name), command.summary);
    const auto run = command.configure(table);
    const auto help = parse_options(table, {"--help"});
    ASSERT_TRUE(help.ok() && *help) << command.name;
    for (const Option& option : table.rows) {
      EXPECT_TRUE(option.hidden || !option.what.empty()) << command.name << " " << option.names;
      EXPECT_TRUE(option.choices.empty() || option.completes == Completes::Nothing)
          << command.name << " " << option.names << ": the choices complete it";
    }
  }
}

}  // namespace
}  // namespace tracewell::cli
