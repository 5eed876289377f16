#include "agent/engine/hit_way.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"

namespace tracewell::agent {
namespace {

constexpr std::string_view kCosts[] = {
    "about 0.02 us a hit", "about 0.1 us a hit",
    "0.1 to 1 us a hit (the program handles faults: new memory is read by system calls)",
    "about 15 us a hit"};
constexpr size_t kWaysTold = 8, kRunsTold = 8;

struct LossRow {
  uint64_t HitLosses::*count;
  std::string_view text;
};
constexpr LossRow kLosses[] = {
    {&HitLosses::no_room, "waited in vain for room in their thread's ring"},
    {&HitLosses::shared, "waited in vain for room in a ring that threads share"},
    {&HitLosses::too_large, "were larger than what they had reserved"},
    {&HitLosses::unfinished, "were under way when their thread, or the run, ended"},
    {&HitLosses::spoiled, "were written over by the program"},
    {&HitLosses::left, "were left when the server had to end"},
};

/// "1-3, 7": these, in ascending order.
std::string text_of_numbers(const std::vector<uint32_t>& numbers) {
  std::string out;
  size_t told = 0;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (++told > kRunsTold) return out + fmt::format(" and {} more", numbers.size() - i);
    if (!out.empty()) out += ", ";
    out += last == i ? fmt::format("{}", numbers[i])
                     : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace

std::string_view text_of(HitCost cost) {
  TW_CHECK(static_cast<size_t>(cost) < std::size(kCosts));
  return kCosts[static_cast<size_t>(cost)];
}

HitWay HitWay::trap(const Error& why) {
  return {Kind::Trap, HitCost::Stop, target::trap_reason(why), why.text()};
}

std::string text_of(const HitWay& way) {
  switch (way.kind) {
    case HitWay::Kind::Pad: return fmt::format("a pad, {}", text_of(way.cost));
    case HitWay::Kind::Trap: return fmt::format("a trap, {}: {}", text_of(way.cost), way.why);
    case HitWay::Kind::Unknown: break;
  }
  return "in no program";
}

std::string text_of(std::span<const PointWay> points) {
  struct Group {
    const HitWay* way;
    std::vector<uint32_t> numbers;
  };
  std::vector<Group> groups;
  size_t left_out = 0;
  for (const PointWay& point : points) {
    if (point.way.kind == HitWay::Kind::Unknown) continue;
    const auto known =
        std::ranges::find_if(groups, [&](const Group& one) { return *one.way == point.way; });
    if (known != groups.end()) known->numbers.push_back(point.number);
    else if (groups.size() < kWaysTold) groups.push_back({&point.way, {point.number}});
    else ++left_out;
  }
  std::string out;
  for (Group& group : groups) {
    std::ranges::sort(group.numbers);
    const auto same = std::ranges::unique(group.numbers);
    group.numbers.erase(same.begin(), same.end());
    const bool one = group.numbers.size() == 1;
    out += fmt::format("{}{} {}: {}", out.empty() ? "" : "; ", one ? "tracepoint" : "tracepoints",
                       text_of_numbers(group.numbers), text_of(*group.way));
  }
  if (left_out > 0) out += fmt::format("; {} more: monitor tracepoints", left_out);
  return out;
}

HitLosses& HitLosses::operator+=(const HitLosses& other) {
  for (const LossRow& row : kLosses) this->*row.count += other.*row.count;
  return *this;
}

std::string text_of(const HitLosses& losses) {
  if (losses.all() == 0) return "";
  std::string out;
  for (const LossRow& row : kLosses)
    if (const uint64_t count = losses.*row.count; count != 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, row.text);
  return fmt::format("hits lost: {}", out);
}

}  // namespace tracewell::agent
