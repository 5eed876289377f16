// Bytes that somebody writes to while they are read, without leaving anything to chance: each
// instruction that touches the first page traps, is let do it alone, and then what is there may be
// made something else. Behind the bytes is memory that nobody may touch.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace tracewell::test {

class ChangingMemory {
 public:
  static constexpr size_t kPage = 4096;

  /// Whole pages.
  explicit ChangingMemory(const std::vector<uint8_t>& bytes) : size_(bytes.size()) {
    EXPECT_EQ(size_ % kPage, 0u);
    void* const memory = ::mmap(nullptr, size_ + kPage, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    begin_ = static_cast<uint8_t*>(memory);
    ::mprotect(begin_ + size_, kPage, PROT_NONE);
    std::memcpy(begin_, bytes.data(), size_);
    present() = this;
    take_signal(SIGSEGV, on_access, of_access_);
    take_signal(SIGTRAP, on_done, of_done_);
  }
  ~ChangingMemory() {
    ::sigaction(SIGSEGV, &of_access_, nullptr);
    ::sigaction(SIGTRAP, &of_done_, nullptr);
    present() = nullptr;
    ::munmap(begin_, size_ + kPage);
  }
  ChangingMemory(const ChangingMemory&) = delete;
  ChangingMemory& operator=(const ChangingMemory&) = delete;

  Bytes bytes() const { return {begin_, size_}; }
  /// Behind an access to the first page, with its number, from 1 on: false = of the accesses that
  /// follow, none is of interest. It must not do what a signal handler may not.
  using Change = std::function<bool(uint8_t* page, size_t number)>;
  /// Runs `reader`. How many accesses were of interest.
  size_t read(const std::function<void()>& reader, const Change& change) {
    change_ = &change;
    accesses_ = 0;
    ::mprotect(begin_, kPage, PROT_NONE);
    reader();
    ::mprotect(begin_, kPage, PROT_READ | PROT_WRITE);
    change_ = nullptr;
    return accesses_;
  }

 private:
  static constexpr greg_t kTrapFlag = 0x100;

  static ChangingMemory*& present() {
    static ChangingMemory* one = nullptr;
    return one;
  }
  static void take_signal(int number, void (*handler)(int, siginfo_t*, void*),
                          struct sigaction& before) {
    struct sigaction now = {};
    now.sa_sigaction = handler;
    now.sa_flags = SA_SIGINFO;
    ::sigaction(number, &now, &before);
  }
  static void on_access(int, siginfo_t* info, void* context) {
    ChangingMemory& memory = *present();
    const auto* const at = static_cast<const uint8_t*>(info->si_addr);
    if (memory.change_ == nullptr || at < memory.begin_ || at >= memory.begin_ + kPage) {
      ::signal(SIGSEGV, SIG_DFL);  // an access that is a fault happens again
      return;
    }
    ::mprotect(memory.begin_, kPage, PROT_READ | PROT_WRITE);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  }
  static void on_done(int, siginfo_t*, void* context) {
    ChangingMemory& memory = *present();
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    if ((*memory.change_)(memory.begin_, ++memory.accesses_))
      ::mprotect(memory.begin_, kPage, PROT_NONE);
  }

  uint8_t* begin_ = nullptr;
  size_t size_;
  size_t accesses_ = 0;
  const Change* change_ = nullptr;
  struct sigaction of_access_ = {}, of_done_ = {};
};

}  // namespace tracewell::test
