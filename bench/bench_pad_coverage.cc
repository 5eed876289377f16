// How much of real libraries can lead through pads: for each instruction of each function of
// libc.so.6 and libsqlite3.so.0, as they are loaded into this process, which kind of plan it gets.
//
// Counted is every instruction between the first and the last byte of every function that the
// library's unwind table (.eh_frame) names, the nops in between included; a function whose bytes
// are not all instructions counts as one instruction without a pad for each of its bytes. `ours` is
// the share that gets a pad when it is the only one; pads stand where this process (a
// position-independent one) has room for them. On stderr: the same by kind, the same for all of
// them at once, and what memory that takes.
//
//   bench_pad_coverage BIN_DIR
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "../tests/pad_runs/loaded_image.h"
#include "pads/patches.h"
#include "pads/planner.h"

namespace {

using namespace tracewell::pads;
constexpr uint32_t kSlotBytes = 256;
constexpr double kLimit = 95;

/// Of this thread's processor time: other work on the machine is none of ours.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Kinds {
  std::map<Kind, uint64_t> counts;
  std::map<std::string, uint64_t> why;
  uint64_t all = 0, pads = 0;

  void count(const Plan& plan) {
    ++counts[plan.kind];
    ++all;
    pads += plan.kind < Kind::Trap;
    if (plan.kind >= Kind::Trap) ++why[plan.why];
  }
  double percent() const { return 100.0 * static_cast<double>(pads) / static_cast<double>(all); }
  void print(const std::string& title) const {
    fmt::print(stderr, "{}: {:.2f}% of {}\n", title, percent(), all);
    for (const auto& [kind, count] : counts)
      fmt::print(stderr, "  {:<10} {:8} {:6.2f}%\n", kind_name(kind), count,
                 100.0 * static_cast<double>(count) / static_cast<double>(all));
    for (const auto& [text, count] : why) fmt::print(stderr, "    {} x {}\n", count, text);
  }
};

uint64_t pages_of(const Plan& plan) {
  uint64_t pages = 0;
  for (const Jump& jump : plan.jumps) {
    const Range pad = jump.pad_range();
    pages += (pad.end - 1) / PadSpace::kPageBytes - pad.start / PadSpace::kPageBytes + 1;
  }
  return pages;
}

std::vector<uint64_t> sites_of(const Code& code, const LoadedImage& image, uint64_t& unknown) {
  std::vector<uint64_t> sites;
  uint64_t end = 0;
  auto functions = image.functions;
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const auto& function : functions) {
    for (uint64_t at = std::max(function.start, end); at < function.end; ++at)
      if (code.starts(at)) sites.push_back(at);
    if (!code.starts(function.start)) unknown += function.end - std::max(function.start, end);
    end = std::max(end, function.end);
  }
  return sites;
}

void one_by_one(const Code& code, const std::vector<uint64_t>& sites, uint64_t unknown,
                const std::string& name, double& percent) {
  Patches none(code, PadSpace(taken_here()), kSlotBytes);
  const Planner planner(none);
  Kinds kinds;
  kinds.all = kinds.counts[Kind::Trap] = kinds.why["not understood"] = unknown;
  double longest = 0;
  uint64_t most_pages = 0;
  const double start = now();
  for (const uint64_t site : sites) {
    const double before = now();
    const Plan plan = planner.plan(site);
    longest = std::max(longest, now() - before);
    kinds.count(plan);
    most_pages = std::max(most_pages, pages_of(plan));
  }
  const double all = now() - start;
  kinds.print(name + ", one at a time");
  fmt::print(stderr,
             "  {:.2f} s, {:.1f} us a site, the longest {:.0f} us; at most {} pages a site\n", all,
             all / static_cast<double>(sites.size()) * 1e6, longest * 1e6, most_pages);
  percent = kinds.percent();
}

void all_at_once(const Code& code, const std::vector<uint64_t>& sites, const std::string& name) {
  Patches patches(code, PadSpace(taken_here()), kSlotBytes);
  const Planner planner(patches);
  Kinds kinds;
  const double start = now();
  for (size_t i = sites.size(); i-- > 0;) {
    Plan plan = planner.plan(sites[i]);
    if (plan.kind != Kind::None) patches.add(plan);
    kinds.count(plan);
  }
  kinds.print(name + ", all at once");
  const size_t pages = patches.space().pages();
  fmt::print(stderr, "  {:.2f} s; {} pages for pads of {} bytes and more, {} MiB\n",
             now() - start, pages, kSlotBytes, pages / 256);
}

bool measure(const char* library, const char* symbol) {
  void* handle = dlopen(library, RTLD_NOW);
  const LoadedImage image =
      image_around(reinterpret_cast<uint64_t>(handle == nullptr ? nullptr : dlsym(handle, symbol)));
  if (image.functions.empty()) {
    fmt::print(stderr, "{}: cannot be loaded, or has no unwind table\n", library);
    return false;
  }
  const double start = now();
  const Code code(image.input());
  fmt::print(stderr, "{}: {} functions of {}, understood in {:.2f} s\n", library,
             image.functions.size(), image.name, now() - start);
  uint64_t unknown = 0;
  const std::vector<uint64_t> sites = sites_of(code, image, unknown);
  double percent = 0;
  one_by_one(code, sites, unknown, library, percent);
  all_at_once(code, sites, library);
  fmt::print("bench pad-coverage {} ours={:.2f}% limit={}%{}\n", library, percent, kLimit,
             percent < kLimit ? " MISSED" : "");
  return percent >= kLimit;
}

}  // namespace

int main() {
  const bool libc = measure("libc.so.6", "qsort");
  const bool sqlite = measure("libsqlite3.so.0", "sqlite3_step");
  return libc && sqlite ? 0 : 1;
}
