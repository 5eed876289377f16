#include "symbols/image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "symbols/own_bytes.h"

namespace tracewell::symbols {

Result<std::shared_ptr<const Image>> Image::open(const std::string& path) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<InputFile> file, InputFile::open(path, may_be));
  return of(std::move(file), path);
}

Result<std::shared_ptr<const Image>> Image::open_found(const std::string& path) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<InputFile> file, InputFile::open_found(path));
  return of(std::move(file), path);
}

Result<std::shared_ptr<const Image>> Image::of(std::shared_ptr<InputFile> file, std::string path) {
  const FileFacts facts = file->facts();
  auto [bytes, owner] = own_bytes(std::move(file));
  TW_ASSIGN_OR_RETURN(const auto image, make(bytes, std::move(owner), std::move(path)));
  image->file_facts_ = facts;
  return std::shared_ptr<const Image>(image);
}

Result<std::shared_ptr<const Image>> Image::parse(Bytes bytes, std::shared_ptr<const void> owner,
                                                  std::string path) {
  TW_ASSIGN_OR_RETURN(auto image, make(bytes, std::move(owner), std::move(path)));
  return std::shared_ptr<const Image>(std::move(image));
}

size_t Image::read(uint64_t address, std::span<uint8_t> into, uint64_t bias) const {
  // The first range that ends behind the address; ranges may touch each other.
  auto range = std::upper_bound(read_only_.begin(), read_only_.end(), address,
                                [](uint64_t at, const ImageRange& r) { return at < r.end(); });
  size_t done = 0;
  while (done < into.size() && range != read_only_.end() && range->address <= address + done) {
    const uint64_t skip = address + done - range->address;
    const size_t size = std::min<uint64_t>(range->bytes.size() - skip, into.size() - done);
    std::memcpy(into.data() + done, range->bytes.data() + skip, size);
    done += size;
    ++range;
  }
  if (bias != 0 && !relocations_.empty()) relocate(address, into.first(done), bias);
  return done;
}

/// `bytes` are those at `address`. A number may reach beyond them at either end, so each is taken
/// from the file as a whole.
void Image::relocate(uint64_t address, std::span<uint8_t> bytes, uint64_t bias) const {
  const auto place = [&](const ImageRelocation& one) { return facts_.link_base + one.offset; };
  auto next = std::lower_bound(relocations_.begin(), relocations_.end(), address,
                               [&](const ImageRelocation& one, uint64_t at) {
                                 return place(one) + one.size_bytes() <= at;
                               });
  for (; next != relocations_.end() && place(*next) < address + bytes.size(); ++next) {
    const uint64_t at = place(*next), size = next->size_bytes();
    uint8_t number[8] = {};
    read(at, std::span(number).first(size));
    uint64_t value = load_uint(number, size, Endian::Little);
    value += next->kind == ImageRelocation::Kind::High16 ? bias >> 16 : bias;
    store_uint(number, value, size, Endian::Little);
    for (uint64_t i = 0; i < size; ++i)
      if (at + i >= address && at + i - address < bytes.size()) bytes[at + i - address] = number[i];
  }
}

bool Image::covers(uint64_t address, uint64_t size) const {
  auto range = std::upper_bound(read_only_.begin(), read_only_.end(), address,
                                [](uint64_t at, const ImageRange& r) { return at < r.end(); });
  while (size > 0) {
    if (range == read_only_.end() || range->address > address) return false;
    const uint64_t here = range->end() - address;
    if (here >= size) return true;
    size -= here;
    address += here;
    ++range;
  }
  return true;
}

}  // namespace tracewell::symbols
