#include "timeline/index/thread_states.h"

#include <algorithm>

#include "base/check.h"

namespace tracewell::timeline {
namespace {

/// `visit(page, start in it, bytes)` for the pages that a value at `offset` lies in, until it says
/// false; whether it never did.
template <class Visit>
bool each_page(uint64_t offset, Bytes value, size_t page_bytes, Visit&& visit) {
  while (!value.empty()) {
    const size_t start = offset % page_bytes, size = std::min(page_bytes - start, value.size());
    if (!visit(offset / page_bytes, start, value.first(size))) return false;
    offset += size;
    value = value.subspan(size);
  }
  return true;
}

}  // namespace

ThreadStates::State ThreadStates::other(uint32_t number) {
  if (number < whole_max_) {
    TW_CHECK(number == whole_.size());
    whole_.emplace_back().reset(layout_);
    return {*this, &whole_.back(), nullptr};
  }
  TW_CHECK(number - whole_max_ <= paged_.size());
  if (number - whole_max_ == paged_.size()) paged_.emplace_back();
  return {*this, nullptr, &paged_[number - whole_max_]};
}

const ThreadStates::Page* ThreadStates::find(const Pages& pages, uint64_t page) const {
  const auto at = std::ranges::lower_bound(pages, page, {}, &PagePlace::page);
  return at == pages.end() || at->page != page ? nullptr : &pages_[at->number];
}

ThreadStates::Page& ThreadStates::add(Pages& pages, uint64_t page) {
  const auto at = std::ranges::lower_bound(pages, page, {}, &PagePlace::page);
  if (at != pages.end() && at->page == page) return pages_[at->number];
  pages.insert(at, {static_cast<uint32_t>(page), static_cast<uint32_t>(pages_.size())});
  return pages_.emplace_back();
}

bool ThreadStates::is_valid(const Pages& pages, uint32_t index) const {
  const uint64_t at = place_of_bit(index);
  const Page* const page = find(pages, at / kPageBytes);
  return page != nullptr && ((*page)[at % kPageBytes] >> (index % 8) & 1) != 0;
}

bool ThreadStates::holds(const Pages& pages, uint32_t index, Bytes value) const {
  return each_page(layout_.registers[index].offset, value, kPageBytes,
                   [&](uint64_t number, size_t start, Bytes part) {
                     const Page* const page = find(pages, number);
                     return page != nullptr &&
                            std::ranges::equal(part, Bytes(*page).subspan(start, part.size()));
                   });
}

void ThreadStates::set(Pages& pages, uint32_t index, Bytes value) {
  const Register& one = layout_.registers[index];
  TW_CHECK(value.empty() || value.size() == one.size_bytes);
  const auto bit = static_cast<uint8_t>(1u << (index % 8));
  const uint64_t at = place_of_bit(index);
  if (value.empty()) {
    if (is_valid(pages, index)) add(pages, at / kPageBytes)[at % kPageBytes] ^= bit;
    return;
  }
  add(pages, at / kPageBytes)[at % kPageBytes] |= bit;
  each_page(one.offset, value, kPageBytes, [&](uint64_t number, size_t start, Bytes part) {
    std::ranges::copy(part, add(pages, number).begin() + static_cast<ptrdiff_t>(start));
    return true;
  });
}

}  // namespace tracewell::timeline
