#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "formats/json/text.h"
#include "render/check_report.h"
#include "render/note_rows.h"

namespace tracewell::render {
namespace {

using Severity = Problem::Severity;

TEST(CheckReport, OfASoundTrace) {
  trace::CheckReport report;
  report.events = 3;
  report.marks = 1;
  const Checked of{"a.tf", "tfile"};
  EXPECT_EQ(check_text(of, report, {}), "a.tf: sound, 3 events (and 1 mark)\n");
  trace::LostPlace& lost = report.lost.emplace_back();
  lost.thread = 7;
  lost.count = 12;
  lost.times = 1;
  const std::string text = check_text(of, report, {});
  EXPECT_NE(text.find("; lost: 12\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("lost 12 of thread 7"), 0u) << text;
  EXPECT_EQ(repair_text("a.tf", "b.tf", {}), "a.tf: sound\n");
}

TEST(CheckReport, OfADamagedOne) {
  trace::CheckReport report;
  report.events = 3;
  ProblemLog problems;
  for (size_t i = 0; i <= ProblemLog::kKeptMax; ++i)
    problems.add({std::nullopt, Severity::Warning, "odd", "wrong"});
  const std::string text = check_text({"a.tf", "tfile"}, report, problems);
  EXPECT_EQ(text.find("warning odd: wrong\nwarning"), 0u);
  EXPECT_NE(text.find("\n… and 1 more\na.tf: faulty, 101 problems; 3 events can be read\n"),
            std::string::npos)
      << text;
  EXPECT_NE(check_text({"a.tf", "tfile", true}, report, problems)
                .find("a.tf: faulty; the rest was not looked at\n"),
            std::string::npos);
  EXPECT_NE(check_json({"a.tf", "tfile", true}, report, problems).find("\"records\": null"),
            std::string::npos);
  EXPECT_NE(repair_text("a.tf", "b.tf", problems)
                .find("a.tf: 101 problems; b.tf has what could be saved\n"),
            std::string::npos);
}

TEST(NoteRows, AreForPeopleAndScripts) {
  const Note note{4, "a\nb"};
  std::string text;
  formats::append_json_text(text, note.text);
  EXPECT_EQ(note_row({note, false, 7, 0x1000}, false), "step 4  pc 0x1000  a\\x0ab");
  EXPECT_EQ(note_row({note, true}, false), "step 4  behind the last one  a\\x0ab");
  EXPECT_EQ(note_row({note, false, 7, 0x1000}, true),
            "{\"step\":4,\"tid\":7,\"pc\":\"0x1000\",\"text\":" + text + "}");
  EXPECT_EQ(note_row({note, true}, true),
            "{\"step\":4,\"tid\":null,\"pc\":null,\"text\":" + text + "}");
}

}  // namespace
}  // namespace tracewell::render
