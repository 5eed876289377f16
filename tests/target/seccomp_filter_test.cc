#include "target/linux/seccomp_filter.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>
#include <linux/audit.h>

namespace tracewell::target::live {
namespace {

uint32_t word(size_t offset) { return static_cast<uint32_t>(offset); }

sock_filter load_at(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offset));
}

sock_filter answer(uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }

seccomp_data call_of(int number) {
  seccomp_data call{};
  call.nr = number;
  call.arch = AUDIT_ARCH_X86_64;
  call.args[1] = 0x1'0000'0007;
  return call;
}

TEST(SeccompFilter, JumpsByTheNumberOfTheCall) {
  const std::vector<sock_filter> filter = {
      load_at(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load_at(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 200, 1, 0),
      answer(SECCOMP_RET_ALLOW),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 219, 1, 0),
      answer(SECCOMP_RET_ERRNO | 1),
      answer(SECCOMP_RET_TRAP),
  };
  EXPECT_EQ(run_filter(filter, call_of(3)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(run_filter(filter, call_of(219)), SECCOMP_RET_ERRNO | 1);
  EXPECT_EQ(run_filter(filter, call_of(220)), SECCOMP_RET_TRAP);
}

TEST(SeccompFilter, Computes) {
  // (low word of the second argument * 6 - 2) << 1 | its length, by way of X and memory
  const std::vector<sock_filter> filter = {
      load_at(offsetof(seccomp_data, args) + 8),
      BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 6),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_STX, 15),
      BPF_STMT(BPF_LD | BPF_IMM, 2),
      BPF_STMT(BPF_ST, 0),
      BPF_STMT(BPF_LDX | BPF_MEM, 0),
      BPF_STMT(BPF_LD | BPF_MEM, 15),
      BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
      BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 1),
      BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0),
      BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
      BPF_STMT(BPF_RET | BPF_A, 0),
  };
  EXPECT_EQ(run_filter(filter, call_of(1)), ((7u * 6 - 2) << 1 | 64));
}

TEST(SeccompFilter, WhatTheKernelWouldNotTakeHasNoAnswer) {
  const std::vector<sock_filter> endless = {BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0)};
  const std::vector<sock_filter> beyond = {load_at(sizeof(seccomp_data)), answer(0)};
  const std::vector<sock_filter> far = {BPF_STMT(BPF_ST, BPF_MEMWORDS), answer(0)};
  const std::vector<sock_filter> by_zero = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), answer(0)};
  for (const auto& filter : {endless, beyond, far, by_zero, std::vector<sock_filter>{}})
    EXPECT_EQ(run_filter(filter, call_of(1)), std::nullopt);
}

}  // namespace
}  // namespace tracewell::target::live
