// The readable data of an image (a program, a library) as its loader leaves it. As long as that has
// not been there, such as in a program that has just begun, words that are to hold addresses are
// zero, or what the linker wrote; what they will be is told by the image's relocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pads/code.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

class PatchedMemory;

class ImageData {
 public:
  /// Of the image that `code`, one of `maps`, belongs to. Nothing is kept of either. Tables of
  /// relocations are as long as a program says: `stop` (may be empty) is asked now and then whether
  /// to leave off, and the words that are left out then are told as they stand.
  ImageData(const PatchedMemory& memory, const std::vector<Mapping>& maps, const Mapping& code,
            const std::function<bool()>& stop);

  /// Where its first page is; 0 = it is not there, or has no ELF header of this kind of program.
  uint64_t start() const { return start_; }
  /// What to add to the image's own addresses.
  uint64_t bias() const { return bias_; }
  /// Where its .eh_frame_hdr is in memory; an empty range when it has none.
  pads::Range unwind_index() const { return unwind_index_; }
  /// Where its data is, in the order of addresses.
  const std::vector<pads::Range>& parts() const { return parts_; }

  /// The bytes that can be read there; `address` is a multiple of a word's size.
  size_t read(uint64_t address, std::span<uint8_t> into) const;

 private:
  using Stop = std::function<bool()>;
  /// A word that is to hold an address.
  struct Fix {
    uint64_t address = 0;
    uint64_t value = 0;  // 0 = the linker's, and the bias
  };
  template <class Elf>
  void take_image(uint64_t image, const Stop& stop);
  template <class Elf>
  void take_relocations(pads::Range dynamic, const Stop& stop);
  template <class Elf>
  void take_packed(pads::Range table, const Stop& stop);
  void add(Fix fix) {
    if (fixes_.size() < kFixesMax) fixes_.push_back(fix);
  }
  template <class Word>
  void apply(uint64_t address, std::span<uint8_t> bytes) const;

  static constexpr size_t kFixesMax = size_t{4} << 20;

  const PatchedMemory& memory_;
  std::vector<pads::Range> parts_;
  uint64_t start_ = 0, bias_ = 0;
  pads::Range unwind_index_;
  std::vector<Fix> fixes_;  // sorted
};

}  // namespace tracewell::target::live
