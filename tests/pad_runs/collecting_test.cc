// Pads at every instruction of a program that collect: what is computed does not change, and each
// execution leaves its record, in order.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fast/hit_here.h"
#include "pad_runs/bodies.h"
#include "pad_runs/patcher.h"
#include "pad_runs/unwatched.h"
#include "pad_runs/workload.h"

namespace tracewell::pads {
namespace {

using fast::HitsHere;
using CollectingPads = Unwatched;

/// What sites collect in turn: each by its own way through the body.
enum class Collects : uint8_t { Nothing, General, Vectors, Stack, IfTrue, IfFalse, Count };

uint64_t body_of(HitsHere& here, Collects what, uint32_t number, uint64_t site) {
  constexpr uint8_t kReg = 0x26, kEqual = 0x13, kEnd = 0x27;
  constexpr uint8_t kRdx = 2, kRsp = 4;
  constexpr uint64_t kX87AndSse = 3, kAreaBytes = 576;
  const HitsHere::Step general;
  const HitsHere::Step vectors{
      .kind = TRACEWELL_STEP_VECTOR, .value = kX87AndSse, .bytes = kAreaBytes};
  const HitsHere::Step stack{
      .kind = TRACEWELL_STEP_MEMORY, .base = kRsp, .value = uint64_t(-64), .bytes = 64};
  const std::vector<uint8_t> is_there = {kReg, 0, kRsp, kEnd};
  const std::vector<uint8_t> is_not = {kReg, 0, kRdx, kReg, 0, kRsp, kEqual, kEnd};
  switch (what) {
    case Collects::Nothing: return here.add(number, {}, {}, 64, site);
    case Collects::General: return here.add(number, {general}, {}, 256, site);
    case Collects::Vectors: return here.add(number, {general, vectors}, {}, 1024, site);
    case Collects::Stack: return here.add(number, {stack}, {}, 160, site);
    case Collects::IfTrue: return here.add(number, {general}, is_there, 256, site);
    default: return here.add(number, {general}, is_not, 256, site);
  }
}

/// A program at whose every instruction something is collected. `turn`: what the first site does.
struct Collecting {
  Collecting(const Reference& reference, uint8_t turn)
      : here({.rings = 4, .ring_bytes = 64 << 20}),
        patcher(reference.code, reference.sites, {}, [this](uint64_t site) {
          const auto slot = axjit::hit_slot(bodies.at(site));
          return std::vector<uint8_t>(slot.begin(), slot.end());
        }) {
    for (size_t i = 0; i < reference.sites.size(); ++i) {
      const auto what = static_cast<Collects>((i + turn) % static_cast<size_t>(Collects::Count));
      const uint64_t site = reference.sites[i];
      bodies[site] = body_of(here, what, static_cast<uint32_t>(i), site);
      if (what != Collects::IfFalse) collect.insert(site);
    }
    for (const uint64_t site : reference.sites) {
      Shared::get().site = site;
      if (patcher.install(site).is_pad()) installed.push_back(site);
    }
  }
  std::map<uint64_t, uint64_t> bodies;
  std::set<uint64_t> collect;
  std::vector<uint64_t> installed;
  HitsHere here;
  Patcher patcher;
};

std::string counts_differ(const Reference& reference, Collecting& collecting) {
  std::map<uint64_t, uint64_t> counts;
  uint64_t last = 0;
  for (const HitsHere::Record& record : collecting.here.records()) {
    ++counts[reference.sites.at(record.plan)];
    if (record.ticks < last) return "records are not in order of time";
    last = record.ticks;
  }
  if (collecting.here.lost() != 0) return "records were lost";
  for (const uint64_t site : collecting.installed) {
    const uint64_t wanted = collecting.collect.contains(site)
                                ? reference.counts[collecting.patcher.number(site)]
                                : 0;
    if (counts[site] != wanted)
      return fmt::format("{:#x} is executed {} times and was recorded {} times", site, wanted,
                         counts[site]);
  }
  return "";
}

std::string collect_everywhere(const Workload& workload) {
  const Reference reference(workload);
  for (uint8_t turn = 0; turn < static_cast<uint8_t>(Collects::Count); ++turn) {
    Collecting collecting(reference, turn);
    Shared::get().pads = collecting.installed.size();
    const uint64_t result = workload.run();
    if (result != reference.result) return fmt::format("turn {}: another result", turn);
    for (const uint64_t site : collecting.installed) collecting.patcher.remove(site);
    if (!collecting.patcher.is_original()) return "something is left behind";
    const std::string wrong = counts_differ(reference, collecting);
    if (!wrong.empty()) return fmt::format("turn {}: {}", turn, wrong);
  }
  return "";
}

TEST_F(CollectingPads, ChangeNothingAndMissNothing) {
  static const Workload own{
      all_of_them,
      {address_of(red_zone), address_of(short_loop), address_of(fibonacci),
       address_of(through_pointers), address_of(switch_table), address_of(computed_goto),
       address_of(jumper), address_of(set_jump), address_of(doubles), address_of(extended),
       address_of(wide), address_of(vectors), address_of(sort), address_of(by_hand)}};
  in_child([] { return collect_everywhere(own); });
  EXPECT_GT(Shared::get().pads, 350u);
}

TEST_F(CollectingPads, OfFunctionsThatThrow) {
  static const Workload exceptions{with_exceptions, {address_of(thrower), address_of(catcher)}};
  in_child([] { return collect_everywhere(exceptions); });
  EXPECT_GT(Shared::get().pads, 40u);
}

}  // namespace
}  // namespace tracewell::pads
