#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trace/notes/note_changes.h"
#include "trace/notes_file.h"
#include "trace/questions/noted.h"
#include "trace_folder.h"

namespace tracewell::trace::test {
namespace {

using What = NoteChange::What;

class NoteChanges : public TraceFolder {
 protected:
  NoteChanges() : path_(steps()) {
    auto trace = open_trace({.path = path_}, work_);
    EXPECT_TRUE(trace.ok());
    auto opened = with_steps(*std::move(trace), {.path = path_}, work_);
    EXPECT_TRUE(opened.ok());
    noted_ = *std::move(opened);
  }
  Status change(const NoteChange& change) { return change_notes(noted_, path_, change); }
  std::vector<Note> notes() { return notes_of(noted_.trace, path_, {}, work_).notes; }

  std::string path_;
  OpenSteps noted_;
};

TEST_F(NoteChanges, AddRemoveAndClear) {
  ASSERT_TRUE(change({.step = 9, .text = "behind"}).ok());
  ASSERT_TRUE(change({.step = 2, .text = "called"}).ok());
  ASSERT_TRUE(change({.step = 2, .text = "called again"}).ok()) << "in place of the other";
  const std::vector<Note> all = notes();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].text, "called again");

  std::vector<uint64_t> places;
  const auto count = noted_steps(noted_, all, std::nullopt, [&](const NotedStep& one) {
    places.push_back(one.pc);
    EXPECT_EQ(one.behind_last, one.note.step == 9);
    return true;
  });
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, 2u);
  EXPECT_EQ(places, (std::vector<uint64_t>{0x1100, 0}));
  EXPECT_EQ(*noted_steps(noted_, all, 3, [](const NotedStep&) { return true; }), 0u);

  ASSERT_TRUE(change({.what = What::Remove, .step = 9}).ok());
  EXPECT_EQ(notes().size(), 1u);
  ASSERT_TRUE(change({.what = What::Clear}).ok());
  EXPECT_FALSE(std::filesystem::exists(notes_path(path_)));
  EXPECT_FALSE(std::filesystem::exists(notes_path(path_) + ".lock"));
}

TEST_F(NoteChanges, WhatCannotBeNotedChangesNothing) {
  EXPECT_EQ(change({.step = 10, .text = "x"}).error().message,
            "there is no step 10: the trace has 9");
  EXPECT_EQ(change({.what = What::Remove, .step = 2}).error().code, Errc::NotFound);
  EXPECT_EQ(change({.step = 2, .text = std::string(kNoteBytesMax + 1, 'x')}).error().code,
            Errc::InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(notes_path(path_)));

  std::ofstream(notes_path(path_)) << "not what we write\n";
  EXPECT_FALSE(change({.step = 2, .text = "x"}).ok());
  EXPECT_EQ(content(notes_path(path_)), "not what we write\n");
  EXPECT_TRUE(change({.what = What::Clear}).ok());
  EXPECT_FALSE(std::filesystem::exists(notes_path(path_)));
}

}  // namespace
}  // namespace tracewell::trace::test
