// ImageMap: images at the addresses where a program had them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

/// Which of many address ranges was added first, of those that hold an address. An add() and a
/// find() take a logarithmic time, however they overlap.
class FirstRangeIndex {
 public:
  /// Both ends included.
  void add(uint64_t first, uint64_t last, size_t value);
  std::optional<size_t> find(uint64_t address) const;

 private:
  struct Piece {
    uint64_t last;
    size_t value;
  };
  std::map<uint64_t, Piece> pieces_;      // by where they begin; apart
  std::map<uint64_t, uint64_t> covered_;  // first to last; apart, and as large as can be
};

/// A find() takes a logarithmic time; reads cost a look at each image.
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
  // Spans, of those of 32 bits by the low half of an address.
  FirstRangeIndex wide_, narrow_;
};

}  // namespace tracewell::symbols
