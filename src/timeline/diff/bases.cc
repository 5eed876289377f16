#include "timeline/diff/bases.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tracewell::timeline {
namespace {

constexpr uint64_t kModuleBytes = 64 << 20;  // pages nearer than this may well be of one module
constexpr size_t kNotedMax = 4096;

}  // namespace

bool Bases::possible_pair(uint64_t a, uint64_t b) const {
  if ((b - a) % kPage != 0) return false;
  const auto page = pages_.find(a / kPage);
  if (page != pages_.end()) return page->second == b - a;
  return !other_way_.contains(b / kPage) && !inside_other(a / kPage, b - a);
}

/// Both neighbours of the page are near, and moved alike, by something else.
bool Bases::inside_other(uint64_t page, uint64_t distance) const {
  const auto above = pages_.lower_bound(page);
  if (above == pages_.end() || above == pages_.begin()) return false;
  const auto below = std::prev(above);
  return below->second == above->second && below->second != distance &&
         (above->first - below->first) * kPage < kModuleBytes;
}

bool Bases::would_pair(const Place& a, const Place& b) const {
  if (!possible_pair(a.pc, b.pc)) return false;
  if (a.pc == b.pc || distances_.contains(b.pc - a.pc)) return true;
  // A new distance has to be believed. Where runs begin there is nothing else.
  return distances_.empty() ? same_length(a, b) : same_code(*this, a, b);
}

bool Bases::pair(const Place& a, const Place& b) {
  if (!would_pair(a, b)) return false;
  current_ = b.pc - a.pc;
  if (!pages_.contains(a.pc / kPage)) learn(a.pc / kPage, current_);
  return true;
}

void Bases::learn(uint64_t page, uint64_t distance) {
  const uint64_t other = page + distance / kPage;
  pages_[page] = distance;
  other_way_[other] = page;
  ++distances_[distance];
  learned_.emplace_back(page, other);
}

void Bases::first_visit(uint64_t page) {
  visited_[page % visited_.size()] = page;
  if (!pages_.contains(page)) learn(page, current_);
}

void Bases::undo(size_t mark) {
  for (; learned_.size() > mark; learned_.pop_back()) {
    const auto [page, other] = learned_.back();
    const auto distance = distances_.find(pages_.at(page));
    if (--distance->second == 0) distances_.erase(distance);
    pages_.erase(page);
    visited_[page % visited_.size()] = 0;
    other_way_.erase(other);
  }
}

bool Bases::rebased(uint64_t a, uint64_t b) const {
  return distances_.contains(b - a) || noted_.contains(b - a);
}

void Bases::note(uint64_t distance) {
  if (noted_.size() < kNotedMax) noted_.insert(distance);
}

std::vector<Bases::Range> Bases::ranges() const {
  std::vector<Range> out;
  for (const auto& [page, distance] : pages_) {
    const uint64_t from = page * kPage;
    if (!out.empty() && out.back().distance == distance && from - out.back().to < kModuleBytes)
      out.back().to = from + kPage;
    else
      out.push_back({from, from + kPage, distance});
  }
  return out;
}

bool same_code(const Bases& bases, const Place& a, const Place& b) {
  if (a.code == b.code || !is_code_known(a) || !is_code_known(b)) return true;
  const size_t size = a.code[15];
  if (b.code[15] != size) return false;
  // Addresses stand at the end, or in front of an immediate; the first difference is in their
  // lowest bytes that are not of the page offset.
  const auto first = static_cast<size_t>(
      std::mismatch(a.code.begin(), a.code.begin() + static_cast<ptrdiff_t>(size), b.code.begin())
          .first -
      a.code.begin());
  for (const size_t width : {size_t{4}, size_t{8}}) {
    for (size_t at = first >= width ? first - width + 1 : 0; at <= first; ++at) {
      if (at + width > size) break;
      uint64_t one = 0, other = 0;
      std::memcpy(&one, a.code.data() + at, width);
      std::memcpy(&other, b.code.data() + at, width);
      const bool rest_same = std::equal(a.code.begin() + static_cast<ptrdiff_t>(at + width),
                                        a.code.end(),
                                        b.code.begin() + static_cast<ptrdiff_t>(at + width));
      const uint64_t own = b.pc - a.pc;
      if (rest_same && (bases.rebased(one, other) || other - one == own)) return true;
    }
  }
  return false;
}

}  // namespace tracewell::timeline
