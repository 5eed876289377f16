// How much of a file the first pass looks at: in proportion to its size, whatever stands in it.
// What is counted is how often a page of the file comes back into view, and no time.
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/random_files.h"
#include "formats/trace64/scan/scan.h"

namespace tracewell::formats::test {
namespace {

/// Bytes of which only the few pages that were looked at last can be read; others are let in when
/// somebody looks at them, and counted. One at a time.
class WatchedBytes {
 public:
  static constexpr size_t kPage = 4096, kInView = 6;

  explicit WatchedBytes(const std::string& bytes)
      : size_(bytes.size()), mapped_((bytes.size() / kPage + 1) * kPage) {
    at_ = static_cast<uint8_t*>(::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(at_, bytes.data(), size_);
    ::mprotect(at_, mapped_, PROT_NONE);
    current = this;
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~WatchedBytes() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    current = nullptr;
    ::munmap(at_, mapped_);
  }
  WatchedBytes(const WatchedBytes&) = delete;
  WatchedBytes& operator=(const WatchedBytes&) = delete;

  Bytes bytes() const { return {at_, size_}; }
  uint64_t looks() const { return looks_; }
  uint64_t pages() const { return mapped_ / kPage; }

 private:
  static void on_fault(int, siginfo_t* info, void*) {
    auto* const where = static_cast<uint8_t*>(info->si_addr);
    if (current == nullptr || where < current->at_ || where >= current->at_ + current->mapped_) {
      ::signal(SIGSEGV, SIG_DFL);  // a fault of the program's own, which comes again
      return;
    }
    current->let_in(current->at_ + static_cast<size_t>(where - current->at_) / kPage * kPage);
  }
  void let_in(uint8_t* page) {
    uint8_t*& oldest = in_view_[looks_++ % kInView];
    if (oldest != nullptr) ::mprotect(oldest, kPage, PROT_NONE);
    oldest = page;
    ::mprotect(page, kPage, PROT_READ);
  }

  static inline WatchedBytes* current = nullptr;
  size_t size_, mapped_;
  uint8_t* at_ = nullptr;
  uint64_t looks_ = 0;
  std::array<uint8_t*, kInView> in_view_ = {};
  struct sigaction before_{};
};

/// Looks at each page, on the average.
double looks_at_a_page(const std::string& blocks) {
  const std::string bytes = head(kJson64) + full_block(1, {{16, 0x10}}).bytes() + blocks;
  const WatchedBytes watched(bytes);
  ProblemLog problems;
  trace64::Scan scan(trace64::kX64, 8 + std::strlen(kJson64));
  scan.extend(watched.bytes(), &problems, {});
  EXPECT_GT(scan.count(), 0u);
  return static_cast<double>(watched.looks()) / static_cast<double>(watched.pages());
}

std::string repeated(const std::string& what, size_t size) {
  std::string out;
  out.reserve(size + what.size());
  while (out.size() < size) out += what;
  return out;
}

/// `size` bytes, or a few more.
using Make = std::string (*)(size_t size);
struct WorkKind {
  const char* name;
  Make make;
  double looks;  // at each page, at most
};

const WorkKind kKinds[] = {
    {"sound", [](size_t size) { return record(windows_program(1, true, 3, 10, size / 60), {}); },
     3},
    {"faulty ids",
     [](size_t size) { return record(windows_program(2, true, 3, 30, size / 60), {true, true}); },
     3},
    {"no blocks", [](size_t size) { return std::string(size, '\1'); }, 3},
    {"halves of heads", [](size_t size) { return std::string(size, '\xac'); }, 3},
    {"heads of full dumps that are none",
     [](size_t size) {
       std::string head("\0\xac\0\x81", 4);
       head.append(200, '\0');
       return repeated(head, size);
     },
     3},
    {"ids that may be hidden",
     [](size_t size) { return repeated(std::string("\0\0\0\x81", 4) + le(4, 4) + "\x90", size); },
     3},
    {"full dumps",
     [](size_t size) { return repeated(full_block(1, {{16, 0x10}}).bytes(), size); }, 3},
    {"damage in each page",
     [](size_t size) {
       std::string out = record(windows_program(3, true, 2, 10, size / 60), {});
       for (size_t at = 3000; at < out.size(); at += 30000) out[at] = '\7';
       return out;
     },
     8},
};

TEST(Trace64Work, EachPageIsLookedAtAFewTimes) {
  for (const WorkKind& kind : kKinds) {
    const double few = looks_at_a_page(kind.make(256 << 10));
    const double many = looks_at_a_page(kind.make(2 << 20));
    EXPECT_LE(few, kind.looks) << kind.name;
    EXPECT_LE(many, kind.looks) << kind.name;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
