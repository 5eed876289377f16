// A piece of memory that begins as zeros and takes none for pages that nobody has written to, such
// as what is kept of a mapping of which a program says that it is large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "base/bytes.h"
#include "base/check.h"

namespace tracewell {

class ZeroedBytes {
 public:
  static constexpr size_t kPage = 4096;

  ZeroedBytes() = default;
  /// As any memory: std::bad_alloc when there is none.
  explicit ZeroedBytes(size_t size) : size_(size) {
    if (size == 0) return;
    void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    // A large page would be there as a whole for each byte of it.
    (void)madvise(at, size, MADV_NOHUGEPAGE);
    data_ = static_cast<uint8_t*>(at);
  }
  ZeroedBytes(ZeroedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedBytes& operator=(ZeroedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ZeroedBytes() {
    if (data_ != nullptr) munmap(data_, size_);
  }

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  Bytes bytes() const { return {data_, size_}; }
  uint8_t& operator[](size_t at) const { return data_[at]; }

  static bool is_zero(Bytes bytes) {
    return bytes.empty() ||
           (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
  }
  /// Once for each place, a multiple of a page. Returns how many bytes of it take memory.
  size_t put(size_t at, Bytes bytes) const {
    TW_CHECK(at <= size_ && bytes.size() <= size_ - at);
    size_t taken = 0;
    for (; !bytes.empty(); at += kPage) {
      const Bytes page = bytes.first(std::min(bytes.size(), kPage));
      bytes = bytes.subspan(page.size());
      if (is_zero(page)) continue;
      std::memcpy(data_ + at, page.data(), page.size());
      taken += page.size();
    }
    return taken;
  }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tracewell
