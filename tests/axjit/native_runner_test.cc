#include "native_runner.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

// rdi: code, rsi: context, rdx: the 16 general registers, by number, before and then after; rcx:
// the stack to run on, or 0. The code's address is in rax at its entry, rsp is not among the
// registers.
asm(R"(
.text
.type tracewell_watched_call, @function
tracewell_watched_call:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rdi, %rax
  movq %rsp, %r8
  testq %rcx, %rcx
  cmovnzq %rcx, %rsp
  andq $-16, %rsp
  pushq %r8
  pushq %rdx
  movq %rsi, %rdi
  movq 8(%rdx), %rcx
  movq 24(%rdx), %rbx
  movq 40(%rdx), %rbp
  movq 48(%rdx), %rsi
  movq 64(%rdx), %r8
  movq 72(%rdx), %r9
  movq 80(%rdx), %r10
  movq 88(%rdx), %r11
  movq 96(%rdx), %r12
  movq 104(%rdx), %r13
  movq 112(%rdx), %r14
  movq 120(%rdx), %r15
  movq 16(%rdx), %rdx
  call *%rax
  xchgq %rbx, (%rsp)
  movq %rax, 0(%rbx)
  movq %rcx, 8(%rbx)
  movq %rdx, 16(%rbx)
  movq %rbp, 40(%rbx)
  movq %rsi, 48(%rbx)
  movq %rdi, 56(%rbx)
  movq %r8, 64(%rbx)
  movq %r9, 72(%rbx)
  movq %r10, 80(%rbx)
  movq %r11, 88(%rbx)
  movq %r12, 96(%rbx)
  movq %r13, 104(%rbx)
  movq %r14, 112(%rbx)
  movq %r15, 120(%rbx)
  popq %rcx
  movq %rcx, 24(%rbx)
  popq %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
.size tracewell_watched_call, . - tracewell_watched_call
)");
extern "C" void tracewell_watched_call(const void* code, tracewell_native_context* context,
                                       uint64_t* registers, void* stack);

namespace tracewell::axjit {
namespace {

constexpr uint8_t kReturn = 0xc3;
constexpr size_t kCodeBytes = 4 << 20;
constexpr size_t kStackBytes = 64 << 10;
constexpr size_t kPlaces = 64;          // in which code is put, in turn
constexpr size_t kPlaceBytes = 16;
constexpr size_t kWatchedBytes = 1024;  // below what the code may use of the stack
constexpr uint8_t kFill = 0x5a;
constexpr unsigned kRaxBit = 1u << 0, kRspBit = 1u << 4, kRdiBit = 1u << 7;

struct Loaded {
  const uint8_t* base = nullptr;
  std::span<const FaultingLoad> loads;
  size_t faults = 0;
  struct sigaction before[2];
  alignas(16) uint8_t stack[64 << 10];
};
Loaded loaded;

/// What a tracer does: the load is in the table, so its thread goes on elsewhere.
void set_on(int number, siginfo_t* info, void* context) {
  greg_t& pc = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto offset = static_cast<uint64_t>(pc) - reinterpret_cast<uint64_t>(loaded.base);
  const auto load = std::ranges::lower_bound(loaded.loads, offset, {}, &FaultingLoad::load);
  if (load == loaded.loads.end() || load->load != offset) {
    psiginfo(info, "not at a load that may fault");
    std::signal(number, SIG_DFL);  // a true crash: it comes again
    return;
  }
  ++loaded.faults;
  pc = static_cast<greg_t>(reinterpret_cast<uint64_t>(loaded.base) + load->resume);
}

uint8_t* map(size_t size, int protection) {
  void* memory = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<uint8_t*>(memory);
}

void protect(uint8_t* memory, size_t size, int protection) {
  if (mprotect(memory, size, protection) != 0) std::abort();
}

}  // namespace

NativeRunner::NativeRunner()
    : code_(map(kCodeBytes, PROT_READ | PROT_WRITE)),
      stack_(map(kStackBytes, PROT_READ | PROT_WRITE)) {
  std::memset(stack_, kFill, kStackBytes);
  stack_t stack{};
  stack.ss_sp = loaded.stack;
  stack.ss_size = sizeof loaded.stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = set_on;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &loaded.before[0]);
  sigaction(SIGBUS, &action, &loaded.before[1]);
}

NativeRunner::~NativeRunner() {
  sigaction(SIGSEGV, &loaded.before[0], nullptr);
  sigaction(SIGBUS, &loaded.before[1], nullptr);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  loaded.loads = {};
  munmap(code_, kCodeBytes);
  munmap(stack_, kStackBytes);
}

// Written and run by turns, never both: what was there before has been seen to run again (on a
// virtual machine, once in a million times) where pages were both. A tracer, too, writes while the
// threads are in the kernel.
void NativeRunner::load(const Native& native) {
  native_ = native;
  native_.code.push_back(kReturn);
  const size_t size = native_.code.size();
  ASSERT_LE(size + kPlaces * kPlaceBytes, kCodeBytes);
  entry_ = code_ + kPlaceBytes * (turn_++ % kPlaces);
  protect(code_, size + kPlaces * kPlaceBytes, PROT_READ | PROT_WRITE);
  std::memcpy(entry_, native_.code.data(), size);
  protect(code_, size + kPlaces * kPlaceBytes, PROT_READ | PROT_EXEC);
  loaded.base = entry_;
  loaded.loads = native_.loads;
}

WatchedRun NativeRunner::run(tracewell_native_context& context) {
  uint64_t before[16], after[16];
  for (uint64_t i = 0; i < 16; ++i) before[i] = 0xfeed000000000000 + i * 0x101010101;
  std::ranges::copy(before, after);
  // What is called uses the stack, so that there is nothing to watch.
  uint8_t* stack = native_.calls ? nullptr : stack_ + kStackBytes - 64;
  loaded.faults = 0;
  tracewell_watched_call(entry_, &context, after, stack);

  WatchedRun run;
  run.outcome = {after[0], after[2]};
  run.faults = loaded.faults;
  run.context_kept = after[7] == reinterpret_cast<uint64_t>(&context);
  for (unsigned i = 0; i < 16; ++i)
    if (before[i] != after[i]) run.changed |= static_cast<uint16_t>(1u << i);
  run.changed &= static_cast<uint16_t>(~(kRaxBit | kRspBit | kRdiBit));
  if (stack != nullptr) {
    const uint8_t* lowest = stack - 16 - native_.stack_bytes;  // 16: two words of the caller
    run.within_stack = std::all_of(lowest - kWatchedBytes, lowest,
                                   [](uint8_t byte) { return byte == kFill; });
    std::memset(stack - 16 - native_.stack_bytes - kWatchedBytes, kFill,
                native_.stack_bytes + kWatchedBytes);
  }
  return run;
}

// It would notice.
TEST(NativeRunner, WatchesRegistersAndStack) {
  NativeRunner runner;
  tracewell_native_context context{};
  Native native;
  native.stack_bytes = 8;
  native.code = {0xc3};  // ret
  runner.load(native);
  WatchedRun run = runner.run(context);
  EXPECT_EQ(run.changed, 0);
  EXPECT_TRUE(run.context_kept && run.within_stack);
  native.code = {0x31, 0xff, 0x45, 0x31, 0xe4, 0x31, 0xdb, 0xc3};  // xor edi, r12d and ebx; ret
  runner.load(native);
  run = runner.run(context);
  EXPECT_EQ(run.changed, 1u << 12 | 1u << 3);
  EXPECT_FALSE(run.context_kept);
  native.code = {0x50, 0x58, 0xc3};  // push rax; pop rax; ret
  runner.load(native);
  EXPECT_FALSE(runner.run(context).within_stack);
  native.stack_bytes = 16;
  runner.load(native);
  EXPECT_TRUE(runner.run(context).within_stack);
  native.code = {0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0, 0xb0, 7, 0xc3};  // mov rax, [8]; mov al, 7
  native.loads = {{0, 8}};
  runner.load(native);
  run = runner.run(context);
  EXPECT_EQ(run.faults, 1u);
  EXPECT_EQ(run.outcome.value & 0xff, 7u);
}

}  // namespace tracewell::axjit
