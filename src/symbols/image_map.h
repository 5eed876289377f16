// ImageMap: images at the addresses where a program had them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/image.h"

namespace tracewell::symbols {

/// `FILE[@BASE]` of a command line. BASE is the load address: the lowest address at which the file
/// was mapped, as /proc/PID/maps and GDB's `info proc mappings` show it; decimal, or hex with 0x.
/// Text behind the last @ that is no number belongs to the file's name.
struct ImageSpec {
  std::string path;
  std::optional<uint64_t> base;
};
ImageSpec parse_image_spec(std::string_view text);

struct MappedImage {
  std::shared_ptr<const Image> image;
  uint64_t bias = 0;  // add it to the file's own addresses, modulo the address size

  uint64_t start() const;  // lowest mapped address
  uint64_t at(uint64_t link_address) const;
  uint64_t link_address(uint64_t address) const;  // the way back
};

/// Reads cost a look at each image; there are few.
class ImageMap {
 public:
  /// At a load address; without one, where the file itself wants to be. InvalidArgument when an
  /// image that cannot be moved is asked for elsewhere, or the base is not at a page.
  Status add(std::shared_ptr<const Image> image, std::optional<uint64_t> base);
  /// At a bias, as loaders report it.
  void add_at_bias(std::shared_ptr<const Image> image, uint64_t bias);

  const std::vector<MappedImage>& images() const { return images_; }
  /// The image whose whole span (writable parts included) holds the address, or nullptr.
  const MappedImage* find(uint64_t address) const;
  /// Read-only bytes: the readable prefix. The image that was added first wins.
  size_t read(uint64_t address, std::span<uint8_t> into) const;
  /// Is all of the range read-only bytes of one image?
  bool covers(uint64_t address, uint64_t size) const;

 private:
  std::vector<MappedImage> images_;
};

}  // namespace tracewell::symbols
