// A pad at every instruction that can take one: the program computes what it did without, and each
// pad is hit as often as the instruction is executed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "machine/relocate.h"
#include "pad_runs/bodies.h"
#include "pad_runs/patcher.h"
#include "pad_runs/unwatched.h"
#include "pad_runs/workload.h"

namespace tracewell::pads {
namespace {

using EveryBoundary = Unwatched;

std::vector<uint64_t> bodies() {
  return {address_of(red_zone),         address_of(short_loop),   address_of(fibonacci),
          address_of(through_pointers), address_of(switch_table), address_of(computed_goto),
          address_of(jumper),           address_of(set_jump),     address_of(doubles),
          address_of(extended),         address_of(wide),         address_of(vectors),
          address_of(sort),             address_of(by_hand)};
}

std::string difference(const Reference& reference, const Patcher& patcher, uint64_t site,
                       uint64_t hits, const char* when) {
  const uint64_t expected = reference.counts[patcher.number(site)];
  if (hits == expected) return "";
  const Patches::Entry* entry = patcher.patches().serving(site);
  return fmt::format("{}: {:#x} ({}) is executed {} times, its pad {} times", when, site,
                     entry == nullptr ? "?" : kind_name(entry->plan.kind), expected,
                     hits);
}

bool is_endbr(uint64_t site) {
  return std::memcmp(reinterpret_cast<const void*>(site), "\xf3\x0f\x1e\xfa", 4) == 0;
}

std::string one_at_a_time(const Workload& workload, std::optional<Kind> only = {}) {
  const Reference reference(workload);
  Patcher patcher(reference.code, reference.sites, only);
  Shared& shared = Shared::get();
  for (const uint64_t site : reference.sites) {
    shared.site = site;
    const Plan plan = patcher.install(site);
    if (!plan.is_pad()) {
      // Behind an endbr64, a jump can stand only where nobody enters: labels of computed gotos are
      // often tops of loops.
      auto& count = is_endbr(site) ? shared.at_endbr : shared.traps;
      count = count + 1;
      continue;
    }
    shared.pads = shared.pads + 1;
    shared.clear_counters(reference.sites.size());
    const uint64_t result = workload.run();
    if (result != reference.result)
      return fmt::format("another result with a pad at {:#x} ({})", site, kind_name(plan.kind));
    const uint64_t hits = patcher.hits(site);
    const std::string wrong = difference(reference, patcher, site, hits, "alone");
    if (!wrong.empty()) return wrong;
    patcher.remove(site);
    if (!patcher.is_original()) return fmt::format("{:#x} leaves something behind", site);
  }
  return "";
}

/// Does what a debugger does at a trap: counts it, and sends the thread through a copy.
class Traps {
 public:
  Traps() = default;
  Traps(const Reference& reference, const Patcher& patcher)
      : reference_(&reference), patcher_(&patcher),
        copies_((reference.code.range().start & ~uint64_t{4095}) - 0x1000'0000) {
    const size_t size = reference.sites.size() * machine::kDisplacedBytesMax;
    mmap(reinterpret_cast<void*>(copies_), size, PROT_READ | PROT_WRITE | PROT_EXEC,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (const uint64_t site : reference.sites) put(copy_at(site), copy_of(site).code);
    on_other = at_trap;
  }
  bool can_be_copied(uint64_t site) const { return !copy_of(site).code.empty(); }

 private:
  uint64_t copy_at(uint64_t site) const {
    return copies_ + patcher_->number(site) * machine::kDisplacedBytesMax;
  }
  machine::DisplacedCode copy_of(uint64_t site) const {
    return machine::displace_x86_64(reference_->code.bytes_at(site), site, copy_at(site));
  }
  static void at_trap(ucontext_t& now);
  const Reference* reference_ = nullptr;
  const Patcher* patcher_ = nullptr;
  uint64_t copies_ = 0;
};

Traps all_traps;

void Traps::at_trap(ucontext_t& now) {
  const auto site = static_cast<uint64_t>(now.uc_mcontext.gregs[REG_RIP]) - 1;
  if (all_traps.reference_->number(site) == 0) _exit(4);
  const size_t number = all_traps.patcher_->number(site);
  // One that stays for another's sake is no site.
  Shared::get().counters[number] = Shared::get().counters[number] + 1;
  now.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(all_traps.copy_at(site));
}

std::string run_with(const Workload& workload, const Reference& reference, const Patcher& patcher,
                     const std::vector<uint64_t>& installed, const char* when) {
  Shared& shared = Shared::get();
  std::vector<uint64_t> hits(installed.size());
  shared.clear_counters(reference.sites.size());
  const uint64_t result = workload.run();
  // All of them before anything else of ours may call what has pads.
  for (size_t i = 0; i < hits.size(); ++i) hits[i] = patcher.hits(installed[i]);
  if (result != reference.result) return fmt::format("{}: another result", when);
  for (size_t i = 0; i < hits.size(); ++i) {
    const std::string wrong = difference(reference, patcher, installed[i], hits[i], when);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string many_at_once(const Workload& workload, uint32_t seed, std::vector<uint64_t> order,
                         const Reference& reference, bool make_room) {
  std::mt19937 random(seed);
  Patcher patcher(reference.code, reference.sites);
  Shared& shared = Shared::get();
  std::vector<uint64_t> installed;
  all_traps = Traps(reference, patcher);
  for (const uint64_t site : order) {
    shared.site = site;
    if (!all_traps.can_be_copied(site)) continue;
    if (make_room)
      patcher.admit(site);
    else if (!patcher.install(site).is_pad())
      continue;
    installed.push_back(site);
  }
  shared.pads = 0;
  for (const uint64_t site : installed)
    shared.pads = shared.pads + patcher.patches().serving(site)->plan.is_pad();
  shared.traps = order.size() - shared.pads;
  std::string wrong = run_with(workload, reference, patcher, installed, "many");
  if (!wrong.empty()) return wrong;
  std::shuffle(installed.begin(), installed.end(), random);
  while (!installed.empty()) {
    const size_t half = installed.size() / 2;
    for (; installed.size() > half; installed.pop_back()) {
      shared.site = installed.back();
      patcher.remove(installed.back());
    }
    wrong = run_with(workload, reference, patcher, installed, "half of them");
    if (!wrong.empty()) return wrong;
  }
  return patcher.is_original() ? "" : "something is left behind";
}

/// `make_room`: sites that do not get by with what others leave are admitted at their cost.
std::string many_in_all_orders(const Workload& workload, uint32_t orders, bool make_room) {
  const Reference reference(workload);
  std::vector<uint64_t> order(reference.sites.rbegin(), reference.sites.rend());
  std::string wrong = many_at_once(workload, 0, order, reference, make_room);
  const uint64_t pads = Shared::get().pads, traps = Shared::get().traps;
  std::mt19937 random(11);
  for (uint32_t seed = 1; seed < orders && wrong.empty(); ++seed) {
    if (seed == 1) std::reverse(order.begin(), order.end());
    if (seed > 1) std::shuffle(order.begin(), order.end(), random);
    wrong = many_at_once(workload, seed, order, reference, make_room);
  }
  Shared::get().pads = pads;
  Shared::get().traps = traps;
  return wrong;
}

const Workload& own() {
  static const Workload workload{all_of_them, bodies()};
  return workload;
}
const Workload& exceptions() {
  static const Workload workload{with_exceptions, {address_of(thrower), address_of(catcher)}};
  return workload;
}

TEST_F(EveryBoundary, OfOwnFunctionsAlone) {
  in_child([] { return one_at_a_time(own()); });
  const Shared& shared = Shared::get();
  EXPECT_GT(shared.pads, 400u);
  EXPECT_LE(shared.traps * 100, shared.pads);
  EXPECT_LE(shared.at_endbr, 12u);
}

/// Those for which there is a better kind, too.
TEST_F(EveryBoundary, OfEachKind) {
  struct {
    Kind kind;
    uint64_t least;
  } kinds[] = {{Kind::Direct, 80},    {Kind::Several, 150},   {Kind::ShortJump, 100},
               {Kind::Punned, 350},   {Kind::Successor, 250}, {Kind::Neighbour, 350}};
  for (const auto& [kind, least] : kinds) {
    in_child([kind = kind] { return one_at_a_time(own(), kind); });
    EXPECT_GE(Shared::get().pads, least) << kind_name(kind);
  }
}

TEST_F(EveryBoundary, OfOwnFunctionsTogether) {
  in_child([] { return many_in_all_orders(own(), 8, true); });
  EXPECT_LE(Shared::get().traps * 10, Shared::get().pads);
}

/// The library's own, whatever the processor makes it choose: vectors, tables, string instructions.
uint64_t run_libc() {
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  static const auto sort = reinterpret_cast<decltype(&qsort)>(find("qsort"));
  static const auto print = reinterpret_cast<decltype(&snprintf)>(find("snprintf"));
  static const auto copy = reinterpret_cast<decltype(&memcpy)>(find("memcpy"));
  static const auto move = reinterpret_cast<decltype(&memmove)>(find("memmove"));
  static const auto fill = reinterpret_cast<decltype(&memset)>(find("memset"));
  static const auto compare = reinterpret_cast<decltype(&memcmp)>(find("memcmp"));
  static const auto length = reinterpret_cast<size_t (*)(const char*)>(find("strlen"));
  static const auto within =
      reinterpret_cast<const char* (*)(const char*, const char*)>(find("strstr"));
  static const auto whole = reinterpret_cast<decltype(&strtol)>(find("strtol"));
  static const auto number = reinterpret_cast<decltype(&strtod)>(find("strtod"));

  uint64_t digest = 3;
  int numbers[] = {9, -3, 7, 7, 0, 22, -15, 4, 1, 8, 2};
  sort(numbers, std::size(numbers), sizeof numbers[0], [](const void* a, const void* b) {
    const int left = *static_cast<const int*>(a), right = *static_cast<const int*>(b);
    return left < right ? -1 : left > right;
  });
  for (const int one : numbers) digest = mixed(digest, static_cast<uint64_t>(one));
  static char text[512], other[512];
  print(text, sizeof text, "%d|%-8s|%08.3f|%x|%lu|%c|%5.1e|%p", -42, "left", 3.14159, 0xbeefU,
        123456789UL, 'z', 1e10, static_cast<void*>(nullptr));
  for (const size_t size : {0, 1, 3, 7, 8, 15, 16, 31, 33, 64, 100, 255, 300}) {
    fill(other, 'x', sizeof other);
    copy(other, text, size);
    move(other + 5, other, size < 400 ? size : 0);
    digest = mixed(digest, static_cast<uint64_t>(compare(other, text, size) < 0));
    digest = mixed(digest, short_loop(other));
  }
  digest = mixed(digest, length(text));
  digest = mixed(digest, static_cast<uint64_t>(within(text, "beef") - text));
  digest = mixed(digest, static_cast<uint64_t>(whole("  -12345xyz", nullptr, 10)));
  return mixed(digest, static_cast<uint64_t>(number("6.02214e23", nullptr) / 1e10));
}

const Workload& libc() {
  static const Workload workload{
      run_libc, {reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "qsort"))}, true};
  return workload;
}

TEST_F(EveryBoundary, OfTheCLibraryAlone) {
  in_child([] { return one_at_a_time(libc()); });
  const Shared& shared = Shared::get();
  EXPECT_GT(shared.pads, 5000u);
  EXPECT_LE(shared.traps * 100, shared.pads);
}

TEST_F(EveryBoundary, OfTheCLibraryTogether) {
  in_child([] { return many_in_all_orders(libc(), 3, false); });
  EXPECT_LE(Shared::get().traps * 8, Shared::get().pads);
}

TEST_F(EveryBoundary, OfFunctionsThatThrow) {
  in_child([] { return one_at_a_time(exceptions()); });
  EXPECT_GT(Shared::get().pads, 40u);
  in_child([] { return many_in_all_orders(exceptions(), 8, true); });
}

}  // namespace
}  // namespace tracewell::pads
