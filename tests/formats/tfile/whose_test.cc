// Whose frames a trace file holds: its trailer says it, where all are of one process.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/support.h"
#include "formats/tfile/trailer.h"
#include "formats/tfile/trailer_format.h"

namespace tracewell::formats::test {
namespace {

Process process_with(uint32_t pid) {
  return {.id = ProcessId{1, pid},
          .pid = pid,
          .start_ns = 10'000'000,
          .parent = 4,
          .host = "host",
          .boot = "0123456789abcdef",
          .image = "/bin/" + std::to_string(pid)};
}

/// Events of these processes, one frame each, behind `changes`.
Batch frames_of(const std::vector<uint32_t>& processes, const std::vector<Event>& changes = {}) {
  Batch batch;
  for (const Event& change : changes) batch.add() = change;
  uint64_t seq = 0;
  for (const uint32_t process : processes) {
    Event& event = batch.add();
    event.seq = seq++;
    event.process = process;
    event.body = Frame{1, std::nullopt, {}, {}};
  }
  return batch;
}

struct Told {
  std::vector<Process> processes;
  std::vector<uint32_t> of;  // by frame
  std::string said;
};

Told after_tfile(const std::vector<Process>& processes, const Batch& batch) {
  Catalog catalog;
  catalog.processes = processes;
  ListSource source(catalog, batch.events());
  Told out;
  Opened again(written(source, "tfile", &out.said));
  out.processes = again.source->catalog().processes;
  Batch read;
  while (*again.source->next(read))
    for (const Event& event : read.events()) out.of.push_back(event.process);
  return out;
}

TEST(TfileWhose, FramesOfOneProcessSayIt) {
  const std::vector<Process> one = {process_with(7)};
  EXPECT_EQ(after_tfile(one, {}).processes, one);
  const Told told = after_tfile(one, frames_of({1, 1, 1}));
  EXPECT_EQ(told.processes, one);
  EXPECT_EQ(told.of, (std::vector<uint32_t>{1, 1, 1}));
  const std::vector<Process> pid_alone = {{.pid = 7}};
  EXPECT_EQ(after_tfile(pid_alone, frames_of({1})).processes, pid_alone);
}

TEST(TfileWhose, OfSeveralThatOneWhoseFramesTheyAre) {
  const std::vector<Process> all = {process_with(7), process_with(8)};
  const Told told = after_tfile(all, frames_of({2, 2}));
  EXPECT_EQ(told.processes, std::vector{all[1]});
  EXPECT_EQ(told.of, (std::vector<uint32_t>{1, 1}));
  EXPECT_TRUE(after_tfile(all, {}).processes.empty());
  EXPECT_TRUE(after_tfile(all, frames_of({1, 2})).processes.empty());
}

TEST(TfileWhose, FramesOfNobodyStayNobodys) {
  const std::vector<Process> one = {process_with(7)};
  for (const auto& of : {std::vector<uint32_t>{0, 1}, {1, 0}}) {
    const Told told = after_tfile(one, frames_of(of));
    EXPECT_TRUE(told.processes.empty());
    EXPECT_EQ(told.of, (std::vector<uint32_t>{0, 0}));
    EXPECT_NE(told.said.find("whose some events are is not known"), std::string::npos) << told.said;
  }
  const Told told = after_tfile(one, frames_of({0}));
  EXPECT_TRUE(told.processes.empty());
  EXPECT_EQ(told.said.find("whose"), std::string::npos) << told.said;
}

TEST(TfileWhose, AChangeMaySayIt) {
  const Process late = process_with(9);
  Event known;
  known.process = 3;
  known.body = Change{.process = &late};
  const Told told = after_tfile({}, frames_of({3, 3}, {known}));
  EXPECT_EQ(told.processes, std::vector{late});
  EXPECT_EQ(told.of, (std::vector<uint32_t>{1, 1}));
}

/// A trailer with one section.
std::vector<uint8_t> trailer_with(std::string_view tag, Bytes section) {
  std::vector<uint8_t> out(section.begin(), section.end());
  ByteWriter to(out, Endian::Little);
  to.bytes(as_bytes(tag));
  to.uint(0, 8);
  to.uint(section.size(), 8);
  const uint64_t length = out.size() + trailer::kFooterBytes;
  to.uint(trailer::kVersion, 4);
  to.uint(1, 4);
  to.uint(length, 8);
  to.uint(trailer::checksum(out), 8);
  to.bytes(as_bytes(trailer::kMagic));
  return out;
}

std::vector<uint8_t> section_of_process() {
  Catalog catalog;
  catalog.processes = {process_with(7)};
  TfileTrailerWriter writer;
  writer.begin(catalog, "");
  std::vector<uint8_t> out = writer.render();
  out.resize(out.size() - trailer::kFooterBytes - trailer::kEntryBytes);
  return out;
}

TEST(TfileWhose, TheSectionMayBeCutAndMayGrow) {
  const std::vector<uint8_t> section = section_of_process();
  for (size_t size = 0; size < section.size(); ++size) {
    const auto file = trailer_with("process ", Bytes(section).first(size));
    EXPECT_FALSE(TfileTrailer::find(file).ok()) << size;
  }
  auto longer = section;
  longer.push_back(1);  // of a release to come
  for (const auto& one : {section, longer}) {
    const auto file = trailer_with("process ", one);
    const auto found = TfileTrailer::find(file);
    ASSERT_TRUE(found.ok() && *found);
    EXPECT_EQ((*found)->processes(), std::vector{process_with(7)});
  }
}

/// As releases do that do not know this one.
TEST(TfileWhose, SectionsThatNobodyKnowsArePassedOver) {
  const auto file = trailer_with("whoever ", section_of_process());
  const auto found = TfileTrailer::find(file);
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_TRUE((*found)->processes().empty());
}

}  // namespace
}  // namespace tracewell::formats::test
