// Files that change while they are read: what was looked at may be something else when it is used.
// A reader may tell anything then, but keeps to the file, and to its own memory.
#include "formats/changed_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/trace64/model.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

std::string input(const std::string& name) {
  return read_file(fmt::format("{}/tests/formats/{}", TRACEWELL_SOURCE_DIR, name));
}

std::string small_trace64(bool wide) {
  RandomProgram program(3, wide, 3, 10);
  Habits habits;
  habits.wide = wide;
  return head(wide ? kJson64 : kJson32) + record(program.run(80), habits);
}

/// Each kind of block, in a few frames.
std::string small_tfile() {
  const std::string data = "R" + le(0x1122334455667788, 8) + "M" + le(0x1000, 8) + le(4, 2) +
                           "abcd" + "V" + le(1, 4) + le(5, 8) + "S" + le(3, 2) + "xyz";
  std::string out = "\x7fTRACE0\nR 8\n\n";
  for (int i = 0; i < 6; ++i) out += le(1, 2) + le(data.size(), 4) + data;
  return out + le(0, 4);
}

/// By format; small, so that each byte has its turn.
std::vector<std::pair<std::string, std::string>> small_files() {
  return {{"trace64", small_trace64(true)},
          {"trace64", small_trace64(false)},
          {"tfile", small_tfile()},
          {"hooklog", input("hooklog/all-kinds/input.hooks")},
          {"hooklog", input("hooklog/two-rings/input.hooks")},
          {"jsonl", input("jsonl/all-kinds/input.jsonl")},
          {"tenet", input("tenet/log/input.tenet")},
          {"tvt", input("tvt/rows/input.tvt")}};
}

struct Reading {
  std::unique_ptr<ProblemLog> problems = std::make_unique<ProblemLog>();
  std::unique_ptr<Source> source;

  Reading(const ChangedFile& file, const std::string& format) {
    auto bytes = InputFile::open(file.path());
    if (!bytes.ok()) return;
    auto opened = open_source(*bytes, format, {}, *problems);
    if (opened.ok()) source = *std::move(opened);
  }
};

/// Bytes change when the file has been looked through, and when a part of it has been told.
TEST(ChangedFile, WhatWasLookedAtIsSomethingElse) {
  for (const auto& [format, bytes] : small_files()) {
    SCOPED_TRACE(format);
    ChangedFile file(bytes);
    const size_t step = std::max<size_t>(file.size() / 150, 1) * tracewell::test::kEach;
    for (const bool begun : {false, true}) {
      for (size_t at = begun ? 0 : step / 2; at < file.size(); at += step) {
        const uint8_t good = file[at];
        for (const int other : {0xff, good ^ 1}) {
          Reading reading(file, format);
          ASSERT_TRUE(reading.source);
          Batch batch;
          if (begun) {
            ASSERT_TRUE(reading.source->next(batch).ok());
          }
          file[at] = static_cast<uint8_t>(other);
          tell_rest(*reading.source);
          if (StepIndex* steps = reading.source->steps()) {
            StepIndex::Moment moment;
            static_cast<void>(steps->state_before(steps->count() / 2, moment));
          }
          file[at] = good;
        }
      }
    }
    EXPECT_GT(tell_rest(*Reading(file, format).source), 0u);
  }
}

/// The same at any moment, in thousands of rounds.
TEST(ChangedFile, WhileItIsRead) {
  constexpr size_t kRounds = 300 / tracewell::test::kEach;
  for (const auto& [format, bytes] : small_files()) {
    SCOPED_TRACE(format);
    ChangedFile file(bytes);
    {
      Flipping flipping(file);
      for (size_t i = 0; i < kRounds; ++i) {
        Reading reading(file, format);
        if (reading.source) tell_rest(*reading.source);
      }
    }
    EXPECT_GT(tell_rest(*Reading(file, format).source), 0u);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
