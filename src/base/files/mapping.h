// Files in memory that may shrink, or fail to be read, while they are mapped.
//
// The kernel answers an access to a page that cannot be had with SIGBUS. A page of one of these
// mappings becomes zeros instead, the access goes on, and the mapping says that it happened. Every
// other SIGBUS keeps its meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell {

/// What is missing of a mapping, in bytes from its begin: the first page that could not be had, and
/// how many pages that were.
struct LostPages {
  uint64_t first = 0;
  uint64_t pages = 0;
};

/// Any number at a time, of any threads. Unmapped by the destructor.
class Mapping {
 public:
  enum class Access : uint8_t {
    Read,    // private and read-only
    Shared,  // read and written, seen by all who have the file mapped
  };
  Mapping() = default;
  /// `size` bytes of the open file `fd`, from `offset`, a multiple of the page. `what` names it in
  /// an error. The descriptor may be closed afterwards.
  static Result<Mapping> map(int fd, size_t size, Access access, const std::string& what,
                             uint64_t offset = 0);
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        slot_(std::exchange(other.slot_, nullptr)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Mapping();

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  Bytes bytes() const { return {data_, size_}; }
  bool valid() const { return data_ != nullptr; }
  /// nullopt as long as every access found what it looked for.
  std::optional<LostPages> lost() const;
  /// The pages of this range are there from now on, and are the caller's in all accounts (cgroups).
  /// What others write there meanwhile stays.
  void populate(size_t offset, size_t size) const;
  /// Pages that lie wholly within the range are not needed for now (MADV_DONTNEED).
  void forget(size_t offset, size_t size) const;

  struct Slot;  // what the signal handler knows of one (mapping.cc)

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  Slot* slot_ = nullptr;
};

}  // namespace tracewell
