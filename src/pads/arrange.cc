#include "pads/arrange.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "pads/planner.h"

namespace tracewell::pads {
namespace {

/// How much is asked for: pads for all, a trap for the site, traps for all that is concerned, and
/// traps also for those that have no room for a trap while they are there.
enum class Wish : uint8_t { Pads, TrapHere, Traps, TrapsAllAround };

Plan trap_at(uint64_t site) {
  Plan plan;
  plan.site = site;
  plan.kind = Kind::Trap;
  plan.why = "other sites leave no room";
  plan.writes = {{site, {0xcc}}};
  return plan;
}

/// Plans whose writes others rely on can only go with those.
void find_plans_on(const Patches& patches, uint64_t host, std::set<uint64_t>& found) {
  const Patches::Entry* entry = patches.find(host);
  if (entry == nullptr || !found.insert(host).second) return;
  for (const Write& write : entry->plan.writes)
    for (uint64_t at = write.address; at < write.address + write.bytes.size(); ++at)
      for (const uint64_t site : patches.byte(at)->relied) find_plans_on(patches, site, found);
}

/// Takes them out; returns the sites that they served, from the highest down.
std::vector<uint64_t> clear(Patches& patches, const std::set<uint64_t>& hosts, Change& change) {
  std::set<uint64_t, std::greater<>> sites;
  for (const uint64_t host : hosts) {
    const auto slots = patches.find(host)->slots;
    sites.insert(slots.begin(), slots.end());
  }
  for (const uint64_t site : sites) {
    Patches::Removal removal = patches.remove(site);
    for (Plan& plan : removal.gone) change.gone.push_back(std::move(plan));
    change.changed.insert(change.changed.end(), removal.changed.begin(), removal.changed.end());
  }
  return {sites.begin(), sites.end()};
}

bool take(Patches& patches, Change& change, Plan plan) {
  if (!patches.add(plan)) return false;
  change.come.push_back(std::move(plan));
  return true;
}

/// The plans that have the site's byte, or whose jumps rely on it, and those on them.
void find_in_way(const Patches& patches, uint64_t site, std::set<uint64_t>& hosts) {
  const Patches::Byte* const in_way = patches.byte(site);
  if (in_way == nullptr) return;
  if (in_way->written || in_way->moved) find_plans_on(patches, in_way->owner, hosts);
  for (const uint64_t relying : in_way->relied) find_plans_on(patches, relying, hosts);
}

/// Those in the way of the site, of the sites that these serve, and so on. The jump of an endbr64
/// stands behind it, and the endbr64 itself may be what another jump relies on.
std::set<uint64_t> all_in_way(const Patches& patches, uint64_t site) {
  std::set<uint64_t> hosts, seen = {site};
  for (std::vector<uint64_t> open = {site}; !open.empty();) {
    std::set<uint64_t> found;
    find_in_way(patches, open.back(), found);
    open.pop_back();
    for (const uint64_t host : found)
      if (hosts.insert(host).second)
        for (const uint64_t served : patches.find(host)->slots)
          if (seen.insert(served).second) open.push_back(served);
  }
  return hosts;
}

/// nullopt when some site would be left without anything.
std::optional<Change> attempt(Patches& patches, uint64_t site, Wish wish) {
  Change change;
  std::set<uint64_t> hosts;
  if (wish == Wish::TrapsAllAround)
    hosts = all_in_way(patches, site);
  else
    find_in_way(patches, site, hosts);
  std::vector<uint64_t> others = clear(patches, hosts, change);
  const Planner planner(patches);
  Plan first = wish == Wish::Pads ? planner.plan(site) : trap_at(site);
  if (!take(patches, change, std::move(first))) return std::nullopt;
  const bool pads = wish == Wish::Pads || wish == Wish::TrapHere;
  for (const uint64_t other : others)
    if (!take(patches, change, pads ? planner.plan(other) : trap_at(other))) return std::nullopt;
  // A plan that only gave up slots, and then went after all, has gone.
  std::erase_if(change.changed, [&](uint64_t host) {
    return patches.find(host) == nullptr ||
           std::any_of(change.come.begin(), change.come.end(),
                       [host](const Plan& plan) { return plan.site == host; });
  });
  return change;
}

}  // namespace

Change admit(Patches& patches, uint64_t site) {
  Change change;
  if (patches.serving(site) != nullptr) return change;
  const Plan plan = Planner(patches).plan(site);
  if (plan.kind != Kind::None) {
    take(patches, change, plan);
    return change;
  }
  if (patches.free(site)) return change;
  for (const Wish wish : {Wish::Pads, Wish::TrapHere, Wish::Traps, Wish::TrapsAllAround}) {
    Patches trial = patches;
    if (auto done = attempt(trial, site, wish)) {
      patches = std::move(trial);
      return *std::move(done);
    }
  }
  return change;
}

}  // namespace tracewell::pads
