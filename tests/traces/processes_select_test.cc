// What is selected of a trace of several processes, and what is told of them all, agrees with what
// is so at each of its events.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "filter/select.h"
#include "formats/random_processes.h"
#include "formats/support.h"
#include "sanitized.h"
#include "trace/questions/processes.h"

namespace tracewell::formats::test {
namespace {

using Counted = RandomProcesses::Counted;

constexpr uint32_t kSelectedSeeds = 200;

std::unique_ptr<Source> source_of(const RandomProcesses& trace) {
  return std::make_unique<ListSource>(trace.catalog, trace.events().events());
}

/// Losses are told where something stays, and that a process ended where that stays.
std::vector<std::string> who_stays(const std::vector<std::string>& stories) {
  constexpr std::string_view kEnded = " ended";
  std::vector<std::string> out;
  for (const std::string& one : stories)
    if (one.find(" lost of ") == one.npos)
      out.push_back(one.ends_with(kEnded) ? one.substr(0, one.size() - kEnded.size()) : one);
  return out;
}

template <class Fits>
void expect_selected(const RandomProcesses& trace, filter::Selection selection, Fits&& fits) {
  std::vector<Counted> fitting;
  for (const Counted& one : trace.counted())
    if (fits(one)) fitting.push_back(one);
  auto selected = filter::select(source_of(trace), std::move(selection));
  const std::string lines = written(*selected, "jsonl");
  Opened again(lines);
  ASSERT_TRUE(again.source) << again.error << lines;
  EXPECT_EQ(who_stays(read_processes(*again.source).stories), who_stays(stories(fitting)));
}

TEST(ProcessesSelect, WhatStaysIsWhoseItWas) {
  for (uint32_t seed = 1; seed <= kSelectedSeeds; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    RandomProcesses trace(seed);
    const auto wanted = static_cast<uint32_t>(1 + trace.below(RandomProcesses::kNumbers));
    filter::Selection by_number;
    by_number.where =
        *filter::Expression::parse(fmt::format("process == {}", wanted), trace.catalog);
    expect_selected(trace, std::move(by_number),
                    [&](const Counted& one) { return one.process == wanted; });
    const auto pid = static_cast<uint32_t>(1 + trace.below(4));
    filter::Selection by_pid;
    by_pid.where = *filter::Expression::parse(fmt::format("pid == {}", pid), trace.catalog);
    expect_selected(trace, std::move(by_pid), [&](const Counted& one) { return one.pid == pid; });
    filter::Selection part;
    part.from = trace.below(trace.counted().size() + 1);
    part.to = part.from + trace.below(20);
    const uint64_t from = part.from, to = part.to;
    expect_selected(trace, std::move(part), [&](const Counted& one) {
      return one.event.seq >= from && one.event.seq <= to;
    });
  }
}

TEST(ProcessesSelect, AllAreListed) {
  for (uint32_t seed = 1; seed <= kSelectedSeeds; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    const RandomProcesses trace(seed);
    std::map<uint32_t, std::string> wanted;
    for (uint32_t i = 0; i < trace.catalog.processes.size(); ++i)
      if (trace.catalog.processes[i] != Process{}) wanted[i + 1] = "";
    std::map<uint32_t, std::pair<std::string, std::string>> lives;
    trace::TracedProcesses listed;
    listed.begin(trace.catalog);
    for (const Event& event : trace.events().events()) {
      listed.look_at(event);
      if (event.process != 0) wanted[event.process] = "";
      const auto* change = std::get_if<Change>(&event.body);
      const std::string here = fmt::format("{}", event.seq);
      if (change && change->kind == Change::Kind::ProcessBegan) lives[event.process].first = here;
      if (change && change->kind == Change::Kind::ProcessEnded) lives[event.process].second = here;
    }
    ASSERT_EQ(listed.count(), wanted.size());
    auto at = wanted.begin();
    for (const trace::TracedProcess& one : listed.list()) {
      ASSERT_EQ(one.number, (at++)->first);
      EXPECT_EQ(one.began ? std::to_string(one.began->event) : "", lives[one.number].first);
      EXPECT_EQ(one.ended ? std::to_string(one.ended->event) : "", lives[one.number].second);
    }
    ASSERT_EQ(at, wanted.end());
  }
}

}  // namespace
}  // namespace tracewell::formats::test
