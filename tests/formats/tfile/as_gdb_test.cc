// What stock GDB 13.1 was seen to do with lines of a description: each text here was given to it.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "formats/support.h"
#include "formats/tfile/as_gdb.h"
#include "formats/tfile/description.h"

namespace tracewell::formats::test {
namespace {

TEST(TfileAsGdb, SizesOfRegisterBlocks) {
  for (const std::string_view text :
       {"218", "0x218", "0X218", " 218", "\t218", "\v218", " \t 0x218", "218\r", "218 ", "218xyz",
        "+218", "00000000000000218", "218,10", "100000218"})
    EXPECT_EQ(block_size_as_gdb(text).bytes, 0x218u) << text;
  EXPECT_EQ(block_size_as_gdb(std::string_view("218\0", 4)).bytes, 0x218u);
  EXPECT_EQ(block_size_as_gdb("7fffffff").bytes, 0x7fffffffu);
  for (const std::string_view text : {"", " ", "zz", "0", "0x", "0xz", "-218", "80000000",
                                      "ffffffff", "1000000000000000230", "100000000"})
    EXPECT_EQ(block_size_as_gdb(text).bytes, 0u) << text;
  EXPECT_EQ(block_size_as_gdb(" 0x218\r").digits, "218");
}

TEST(TfileAsGdb, StatusesAtWhichGdbGivesUp) {
  for (const std::string_view text :
       {"", "0", "1;tstop::0;tframes:1", " 0;tstop::0;tframes:1", "T0;tstop::0;tframes:1",
        "2;tstop::0;tframes:1", "0tstop::0;tframes:1", "0;tframes:zz;tcreated:1",
        "0;nosuch:1;tframes:1", "0:tstop::0", "0;;tframes:1", "0;tpasscount:x;tframes:1",
        "0;tstop:0;tframes:1;notes:6", "0;tframes:1;notes:6869:", "0;terror:6869:3;tframes:1",
        "0;tframes:1;tstop:0:", "0;tframes:1;tstop:62:", "0;tframes:1;tstop:6:0",
        "0;tframes:1;terror:6:0"})
    EXPECT_FALSE(status_fault_as_gdb(text)) << text;
  for (const std::string_view text :
       {"0;", "0;tframes", "0;tstop::0;tframes:1\r", "0;tframes:1 ",
        "0;tframes:1:", "0;tframes:0x1", "0;tframes: 1", "0;tframes:-1", "0;tframes:1;starttime:zz",
        "0;tstop:zz:0;tframes:1", "0;terror:3;tframes:1", "0;terror:0",
        "0;tstop:0;tframes:1;username:zz"})
    EXPECT_TRUE(status_fault_as_gdb(text)) << text;
}

/// The file with this description has one frame with 4 bytes of registers.
std::string codes_of(const std::string& description) {
  Opened opened("\x7fTRACE0\n" + description + "\n" +
                std::string("\1\0\5\0\0\0R\1\2\3\4\0\0\0\0", 15));
  if (!opened.source) return opened.error;
  std::string out;
  for (const Problem& problem : opened.problems->kept())
    out += (out.empty() ? "" : " ") + problem.code;
  return out;
}

TEST(TfileAsGdb, OddLinesAreToldAndRead) {
  const std::string status = "status 0;tstop::0;tframes:1\n";
  EXPECT_EQ(codes_of("R 4\n" + status), "");
  for (const std::string line : {"R 0x4\n", "R  4\n", "R 4\r\n", "R 4 bytes\n"})
    EXPECT_EQ(codes_of(line + status), "odd-R") << line;
  EXPECT_EQ(codes_of("R 8\nR 4\n" + status), "second-R");
  EXPECT_EQ(codes_of("R 0\n" + status).substr(0, 12), "no-registers");
  EXPECT_EQ(codes_of("R -4\n" + status).substr(0, 5), "bad-R");
  EXPECT_EQ(codes_of("R4\n" + status).substr(0, 17), "unknown-line no-R");
  EXPECT_EQ(codes_of("R 4\nstatus 0;tstop::0;tframes:1\r\n"), "gdb-status");
  EXPECT_EQ(codes_of("R 4\nstatus 1;tnotrun:0;tframes:7\n" + status), "second-status");
  EXPECT_EQ(codes_of("R 4\n" + status + "tp A1:10:R01\n"), "gdb-tracepoint");
  EXPECT_EQ(codes_of("R 4\n" + status + "tp A1:10:R01\ntp T1:10:E:0:0\n"), "");
}

TEST(TfileAsGdb, FastTracepointsAreToldBesideWhatGdbReads) {
  Catalog catalog;
  TracepointDef one;
  one.number = 1;
  one.address = 0x401106;
  one.sources = {{"at", "*0x401106"}};
  one.fast_length = 1;
  catalog.tracepoints.push_back(one);
  one.number = 2;
  one.fast_length.reset();
  one.sources = {{"at", "-m a/b"}, {"cmd", "collect $_sdata"}};
  one.is_static = true;
  one.actions = {"L"};
  catalog.tracepoints.push_back(one);
  one.number = 3;
  one.condition.assign(600, 0x28);
  one.sources = {{"at", "leaf"}};
  catalog.tracepoints.push_back(one);
  const std::string text = render_tfile_description(catalog);
  EXPECT_EQ(text.find(":F"), std::string::npos) << text;
  EXPECT_NE(text.find("tp T1:401106:E:0:0\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(to_hex("-m a/b")), std::string::npos) << text;
  EXPECT_NE(text.find("tp T3:401106:E:0:0:S\n"), std::string::npos) << text;
  Batch none;
  ListSource source(catalog, none.events());
  const std::string file = written(source, "tfile");
  Opened opened(file);
  ASSERT_TRUE(opened.source);
  const auto& read = opened.source->catalog().tracepoints;
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].fast_length, 1u);
  EXPECT_EQ(read[1].sources[0].text, "-m a/b");
  EXPECT_EQ(read[2].condition.size(), 600u);
  EXPECT_EQ(written(*opened.source, "tfile"), file);
}

std::string file_with(const std::string& lines) {
  return "\x7fTRACE0\nR 4\n" + lines + "\n" + std::string("\1\0\5\0\0\0R\1\2\3\4\0\0\0\0", 15);
}

/// Up to the empty line: GDB reads no text behind it.
std::string description_of(const std::string& file) { return file.substr(0, file.find("\n\n")); }

TEST(TfileAsGdb, DescriptionsThatActAreNotCopied) {
  const std::string status = "status 0;tstop::0;tframes:1\n", point = "tp T1:10:E:0:0\n";
  const auto source = [](const std::string& type, const std::string& text) {
    return "tp Z1:10:" + type + ":0:" + std::to_string(text.size()) + ":" +
           to_hex(as_bytes(text)) + "\n";
  };
  // An order that is not ours, so that it is copied where it can be.
  const std::string fit = file_with(point + source("at", "leaf") + status);
  EXPECT_EQ(converted(fit, "tfile"), fit);
  EXPECT_EQ(converted(converted(fit, "jsonl"), "tfile"), fit);
  for (const auto& [type, text] : {std::pair<std::string, std::string>("at", "*$f(1)"),
                                   {"at", "a\x1b"},
                                   {"cond", "$f(1)"},
                                   {"cmd", "collect $f(1)"},
                                   {"cmd", "python"}}) {
    const std::string file = file_with(point + source(type, text) + status);
    for (const std::string& again :
         {converted(file, "tfile"), converted(converted(file, "jsonl"), "tfile")}) {
      EXPECT_EQ(description_of(again).find(to_hex(as_bytes(text))), std::string::npos) << text;
      Opened opened(again);
      ASSERT_TRUE(opened.source);
      ASSERT_EQ(opened.source->catalog().tracepoints.size(), 1u);
      EXPECT_EQ(opened.source->catalog().tracepoints[0].sources[0].text, text);  // in the trailer
    }
  }
  const std::string act = to_hex(as_bytes("\x1b[2J"));
  for (const std::string& lines :
       {point + "tsv 1:0:0:" + act + "\n" + status,
        point + "status 0;tstop::0;tframes:1;notes:" + act + "\n" + status,
        point + "status 0;tstop::0;tframes:1;username:" + act + "\n"}) {
    const std::string again = converted(file_with(lines), "tfile");
    EXPECT_EQ(description_of(again).find(act), std::string::npos) << again;
  }
}

/// Each piece is a line to GDB: as a whole this is a comment.
TEST(TfileAsGdb, PiecesThatActAreNotCopied) {
  const std::string comment = "#aaa", act = "collect $_sdata+$_shell(\"id\")";
  const auto piece = [&](size_t start, const std::string& text) {
    return fmt::format("tp Z1:10:cmd:{:x}:{:x}:{}\n", start, comment.size() + act.size(),
                       to_hex(as_bytes(text)));
  };
  const std::string status = "status 0;tstop::0;tframes:1\n", point = "tp T1:10:E:0:0\n";
  const std::string file =
      file_with(point + piece(0, comment) + piece(comment.size(), act) + status);
  for (const std::string& again :
       {converted(file, "tfile"), converted(converted(file, "jsonl"), "tfile")}) {
    const std::string told = description_of(again);
    EXPECT_EQ(told.find(":cmd:4:"), std::string::npos) << told;
    EXPECT_NE(told.find(":cmd:0:" + fmt::format("{:x}:", comment.size() + act.size()) +
                        to_hex(as_bytes(comment + act))),
              std::string::npos)
        << told;
  }
}

/// By itself, and by way of JSON lines.
std::vector<std::string> both_ways(const std::string& file) {
  return {converted(file, "tfile"), converted(converted(file, "jsonl"), "tfile")};
}

const std::string kPlainStatus = "status 0;tstop::0;tframes:1\n", kPlainPoint = "tp T1:10:E:0:0\n";

/// GDB compares as much of a name as the file has, and keeps texts that another field leaves.
TEST(TfileAsGdb, StatusesThatGdbTakesOtherwiseAreNotCopied) {
  const std::string act = to_hex(as_bytes("\x1b[2J"));
  for (const std::string& fields :
       {"tstop::0;tframes:1;note:" + act, "tstop::0;tframes:1;usernam:" + act,
        "tsto:" + act + ":0;tframes:1", "te:" + act + ":0;tframes:1",
        "terror:" + act + ":0;tstop:0;tframes:1", "tstop:" + act + ":0;tfull:0;tframes:1",
        "tstop::0;notes:" + act + ";tfree:5z;notes:61;tframes:1",
        "tstop::0;tframes:5xnotes:" + act}) {
    for (const std::string& again :
         both_ways(file_with(kPlainPoint + "status 0;" + fields + "\n"))) {
      ASSERT_NE(description_of(again).find("\nstatus 0;"), std::string::npos) << fields;
      EXPECT_EQ(description_of(again).find(act), std::string::npos) << again;
    }
  }
  for (const std::string_view text : {"0;t:zz:0;tframes:0", "0;notes2:zz;tframes:0"})
    EXPECT_FALSE(status_fault_as_gdb(text)) << text;
  for (const std::string_view text : {"0;ts:zz:0;tframes:0", "0;n:zz;tframes:0", "0;u:zz"})
    EXPECT_TRUE(status_fault_as_gdb(text)) << text;
  EXPECT_EQ(codes_of("R 4\nstatus 0;tstop::0;tframes:1;note:61\n"), "status-field");
}

/// What it complains of it shows as it is.
TEST(TfileAsGdb, LinesThatGdbWouldShowAreNotCopied) {
  for (const std::string line :
       {"zz\x1b]0;x\x07\n",
        "zz\xc2\x9b"
        "31m\n",
        "tp T2:20:E:0:0:\x1b\n", "tp T2:20:E:0:0:Wow\n", "tp A1:10:R01\x1b\n"}) {
    for (const std::string& again : both_ways(file_with(kPlainPoint + line + kPlainStatus))) {
      EXPECT_EQ(description_of(again).find(line), std::string::npos) << line;
      EXPECT_NE(description_of(again).find("\n" + kPlainStatus.substr(0, 8)), std::string::npos);
    }
  }
  // One that is not known, but harmless, stays where it is.
  const std::string fit = file_with(kPlainPoint + "magic 12\n" + kPlainStatus);
  for (const std::string& again : both_ways(fit)) EXPECT_EQ(again, fit);
  // GDB knows both variables by their names.
  const std::string act = to_hex(as_bytes("\x1b[2J"));
  const std::string twice = "tsv 1:0:0:" + act + "\ntsv 1:0:0:61\n";
  for (const std::string& again : both_ways(file_with(kPlainPoint + twice + kPlainStatus)))
    EXPECT_EQ(description_of(again).find(act), std::string::npos) << again;
}

/// A trace of JSON lines with a register of 4 bytes and these extras.
std::string written_with(const std::string& key, const std::string& value, std::string* told) {
  Opened opened(file_with(kPlainStatus));
  if (!opened.source) return opened.error;
  Catalog catalog = opened.source->catalog();
  catalog.extras = {{key, value}};
  Batch none;
  ListSource source(catalog, none.events());
  return description_of(written(source, "tfile", told));
}

/// Anybody can write such lines: none becomes what GDB understands.
TEST(TfileAsGdb, LinesOfOthersAreNoneThatGdbUnderstands) {
  std::string told;
  const std::string plain = written_with(std::string(kTfileLine), "magic 12", &told);
  EXPECT_NE(plain.find("\nmagic 12"), std::string::npos) << plain;
  EXPECT_EQ(told, "");
  for (const std::string line :
       {"R 7fffffff", "tdesc <target/>", "status 0;tframes:1", "tp T1:10:E:0:0", "tsv 1:0:0:61",
        "zz\x1b]0;x\x07", "zz\xc2\x85"}) {
    told.clear();
    const std::string text = written_with(std::string(kTfileLine), line, &told);
    EXPECT_EQ(text.find("\n" + line), std::string::npos) << text;
    EXPECT_NE(told.find("is left out"), std::string::npos) << line;
  }
}

/// GDB takes blocks of that size, whatever the frames have.
TEST(TfileAsGdb, ASectionWithAnotherSizeIsNotCopied) {
  // An order that is not ours, so that it is copied where it can be. There are no frames.
  const auto with_size = [](const std::string& size) {
    return written_with(std::string(kTfileRaw), kPlainStatus + size, nullptr);
  };
  EXPECT_NE(with_size("R 4\n").find("tframes:0\nR 4"), std::string::npos);
  for (const std::string size :
       {"R 7fffffff\n", "R 4\nR 7fffffff\n", "R 7fffffff\nR 4\n", "R 0x4\n", "R 4 \x1b\n"}) {
    const std::string text = with_size(size);
    EXPECT_EQ(text.find("tframes:0\nR "), std::string::npos) << text;
    EXPECT_NE(text.find("\nR 4\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("7fffffff"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
