#include "symbols/image_map.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"

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

void ImageMap::add_at_bias(std::shared_ptr<const Image> image, uint64_t bias) {
  const uint64_t wrapped = wrap(bias, *image);
  images_.push_back({std::move(image), wrapped});
}

const MappedImage* ImageMap::find(uint64_t address) const {
  for (const MappedImage& mapped : images_) {
    const ImageFacts& facts = mapped.image->facts();
    const uint64_t link = mapped.link_address(address);
    if (link >= facts.link_base && link - facts.link_base < facts.span_bytes) return &mapped;
  }
  return nullptr;
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
