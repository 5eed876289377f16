#include "symbols/image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "symbols/image_reader.h"

namespace tracewell::symbols {

Result<std::shared_ptr<const Image>> Image::open(const std::string& path) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<InputFile> file, InputFile::open(path));
  const Bytes bytes = file->bytes();
  return parse(bytes, std::move(file), path);
}

Result<std::shared_ptr<const Image>> Image::parse(Bytes bytes, std::shared_ptr<const void> owner,
                                                  std::string path) {
  std::shared_ptr<Image> image(new Image);
  image->path_ = std::move(path);
  image->owner_ = std::move(owner);
  image->file_ = bytes;
  ImageReader reader(bytes, *image);
  if (Status status = reader.read(); !status) return std::move(status).error().within(image->path_);
  return std::shared_ptr<const Image>(std::move(image));
}

size_t Image::read(uint64_t address, std::span<uint8_t> into) const {
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
  return done;
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
