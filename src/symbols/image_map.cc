#include "symbols/image_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::symbols {
namespace {

constexpr uint64_t kPageBytes = 4096;

uint64_t wrap(uint64_t address, const Image& image) {
  return image.facts().address_bytes == 4 ? address & UINT32_MAX : address;
}

}  // namespace

ImageSpec parse_image_spec(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos && at > 0) {
    const std::optional<uint64_t> base = parse_number(text.substr(at + 1));
    if (base) return {std::string(text.substr(0, at)), base};
  }
  return {std::string(text), std::nullopt};
}

uint64_t MappedImage::at(uint64_t link_address) const { return wrap(link_address + bias, *image); }

uint64_t MappedImage::link_address(uint64_t address) const { return wrap(address - bias, *image); }

uint64_t MappedImage::start() const { return at(image->facts().link_base); }

Status ImageMap::add(std::shared_ptr<const Image> image, std::optional<uint64_t> base) {
  const ImageFacts& facts = image->facts();
  if (!base) base = facts.link_base;
  if (!facts.relocatable && *base != facts.link_base)
    return {Errc::InvalidArgument,
            fmt::format("{} is not position-independent: it is always at 0x{:x}", image->path(),
                        facts.link_base)};
  if (*base % kPageBytes != facts.link_base % kPageBytes)
    return {Errc::InvalidArgument,
            fmt::format("{}: 0x{:x} is not the start of a page; give the address of the first "
                        "mapping of the file",
                        image->path(), *base)};
  if (facts.address_bytes == 4 && *base > UINT32_MAX)
    return {Errc::InvalidArgument,
            fmt::format("{} is a 32-bit file: it cannot be at 0x{:x}", image->path(), *base)};
  add_at_bias(std::move(image), *base - facts.link_base);
  return {};
}

/// What is covered already stays what it is; the gaps in between are the new one's. What is looked
/// at for that becomes one, so that it is not looked at again.
void FirstRangeIndex::add(uint64_t first, uint64_t last, size_t value) {
  uint64_t begin = first, end = last;
  auto next = covered_.upper_bound(first);
  if (next != covered_.begin() && std::prev(next)->second >= first) --next;
  uint64_t gap = first;
  bool full = false;
  while (next != covered_.end() && next->first <= last) {
    if (gap < next->first) pieces_[gap] = {next->first - 1, value};
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    full = next->second >= last;
    gap = next->second + 1;  // wraps only where it is full
    next = covered_.erase(next);
  }
  if (!full) pieces_[gap] = {last, value};
  covered_[begin] = end;
}

std::optional<size_t> FirstRangeIndex::find(uint64_t address) const {
  const auto next = pieces_.upper_bound(address);
  if (next == pieces_.begin()) return std::nullopt;
  const Piece& piece = std::prev(next)->second;
  return address <= piece.last ? std::optional(piece.value) : std::nullopt;
}

void ImageMap::add_at_bias(std::shared_ptr<const Image> image, uint64_t bias) {
  const ImageFacts& facts = image->facts();
  const uint64_t wrapped = wrap(bias, *image);
  const bool narrow = facts.address_bytes == 4;
  const uint64_t highest = narrow ? UINT32_MAX : UINT64_MAX;
  const uint64_t span = facts.span_bytes;
  const size_t number = images_.size();
  images_.push_back({std::move(image), wrapped});
  if (span == 0) return;
  FirstRangeIndex& index = narrow ? narrow_ : wide_;
  const uint64_t first = images_.back().start(), last = (first + (span - 1)) & highest;
  if (span - 1 <= highest - first) return index.add(first, last, number);
  index.add(first, highest, number);
  index.add(0, last, number);
}

const MappedImage* ImageMap::find(uint64_t address) const {
  const auto wide = wide_.find(address), narrow = narrow_.find(address & UINT32_MAX);
  if (!wide && !narrow) return nullptr;
  return &images_[wide && narrow ? std::min(*wide, *narrow) : wide ? *wide : *narrow];
}

size_t ImageMap::read(uint64_t address, std::span<uint8_t> into) const {
  for (const MappedImage& mapped : images_) {
    const size_t got = mapped.image->read(mapped.link_address(address), into, mapped.bias);
    if (got > 0) return got;
  }
  return 0;
}

bool ImageMap::covers(uint64_t address, uint64_t size) const {
  for (const MappedImage& mapped : images_)
    if (mapped.image->covers(mapped.link_address(address), size)) return true;
  return false;
}

}  // namespace tracewell::symbols
