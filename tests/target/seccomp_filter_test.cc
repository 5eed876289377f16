#include "target/linux/kernel/seccomp_filter.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <linux/audit.h>

#include "target/linux/fast/call_filters.h"

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

TEST(SeccompFilter, ShiftsByXAsTheProcessorDoes) {
  const std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_IMM, 33),  BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_LD | BPF_IMM, 3),   BPF_STMT(BPF_ALU | BPF_LSH | BPF_X, 0),
      BPF_STMT(BPF_RET | BPF_A, 0),
  };
  EXPECT_EQ(run_filter(filter, call_of(1)), 6u);
}

TEST(SeccompFilter, WhatTheKernelWouldNotTakeHasNoAnswer) {
  const std::vector<sock_filter> endless = {BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0)};
  const std::vector<sock_filter> beyond = {load_at(sizeof(seccomp_data)), answer(0)};
  const std::vector<sock_filter> far = {BPF_STMT(BPF_ST, BPF_MEMWORDS), answer(0)};
  const std::vector<sock_filter> by_zero = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), answer(0)};
  for (const auto& filter : {endless, beyond, far, by_zero, std::vector<sock_filter>{}})
    EXPECT_EQ(run_filter(filter, call_of(1)), std::nullopt);
}

constexpr uint32_t kGetTid = 186, kPersonality = 135, kReadv = 310;
constexpr uint32_t kX32 = 0x40000000;

sock_filter equal(uint32_t value, uint8_t yes, uint8_t no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

/// As containers have it: whose calls they are comes first, then a list of numbers.
std::vector<sock_filter> list(std::initializer_list<sock_filter> rules, uint32_t otherwise) {
  std::vector<sock_filter> filter = {
      load_at(offsetof(seccomp_data, arch)),
      equal(AUDIT_ARCH_X86_64, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load_at(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1),
      answer(SECCOMP_RET_KILL_PROCESS),
  };
  filter.insert(filter.end(), rules);
  filter.push_back(answer(otherwise));
  return filter;
}

TEST(AlwaysAllows, WhateverIsAsked) {
  EXPECT_TRUE(always_allows(std::vector{answer(SECCOMP_RET_ALLOW)}, kGetTid));
  EXPECT_FALSE(always_allows(std::vector{answer(SECCOMP_RET_LOG | 7)}, kGetTid));
  for (const uint32_t other :
       {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO,
        SECCOMP_RET_USER_NOTIF, SECCOMP_RET_TRACE, SECCOMP_RET_ALLOW - 0x10000})
    EXPECT_FALSE(always_allows(std::vector{answer(other)}, kGetTid)) << other;
  EXPECT_FALSE(always_allows({}, kGetTid));
}

TEST(AlwaysAllows, WhatIsInAList) {
  const auto filter =
      list({equal(kGetTid, 0, 1), answer(SECCOMP_RET_ALLOW)}, SECCOMP_RET_KILL_PROCESS);
  EXPECT_TRUE(always_allows(filter, kGetTid));
  EXPECT_FALSE(always_allows(filter, kReadv));
  const auto but_one =
      list({equal(kGetTid, 0, 1), answer(SECCOMP_RET_ERRNO | 1)}, SECCOMP_RET_ALLOW);
  EXPECT_FALSE(always_allows(but_one, kGetTid));
  EXPECT_TRUE(always_allows(but_one, kReadv));
}

TEST(AlwaysAllows, ItIsNoOtherMachines) {
  const std::vector<sock_filter> for_32_bit = {
      load_at(offsetof(seccomp_data, arch)),
      equal(AUDIT_ARCH_I386, 0, 1),
      answer(SECCOMP_RET_ALLOW),
      answer(SECCOMP_RET_KILL_PROCESS),
  };
  EXPECT_FALSE(always_allows(for_32_bit, kGetTid));
}

/// It is for the arguments of some calls alone.
TEST(AlwaysAllows, ArgumentsOfOtherCallsDoNotMatter) {
  const auto looks_at = [](uint32_t number) {
    return list({equal(number, 0, 4), load_at(offsetof(seccomp_data, args)),
                 equal(0, 0, 1), answer(SECCOMP_RET_ALLOW), answer(SECCOMP_RET_ERRNO | 1)},
                SECCOMP_RET_ALLOW);
  };
  EXPECT_TRUE(always_allows(looks_at(kPersonality), kReadv));
  EXPECT_FALSE(always_allows(looks_at(kReadv), kReadv));
}

/// Though it answers the same to all that it sees: what it sees is not known.
TEST(AlwaysAllows, NothingThatLooksFurther) {
  for (const size_t offset : {offsetof(seccomp_data, instruction_pointer),
                              offsetof(seccomp_data, instruction_pointer) + 4,
                              offsetof(seccomp_data, args), sizeof(seccomp_data) - 4})
    EXPECT_FALSE(
        always_allows(std::vector{load_at(offset), answer(SECCOMP_RET_ALLOW)}, kGetTid))
        << offset;
}

TEST(AlwaysAllows, NothingThatCannotBeTold) {
  EXPECT_FALSE(always_allows(std::vector{BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
                                         answer(SECCOMP_RET_ALLOW)},
                             kGetTid));
  EXPECT_FALSE(always_allows(std::vector{BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32),
                                         answer(SECCOMP_RET_ALLOW)},
                             kGetTid));
  EXPECT_FALSE(always_allows(std::vector{BPF_JUMP(BPF_JMP | BPF_JA, 7, 0, 0),
                                         answer(SECCOMP_RET_ALLOW)},
                             kGetTid));
}

TEST(FiltersOf, WhatStatusSays) {
  EXPECT_EQ(filters_of("Name:\tx\n"), 0u);  // a kernel without filters
  EXPECT_EQ(filters_of("Seccomp:\t0\nSeccomp_filters:\t0\n"), 0u);
  EXPECT_EQ(filters_of("Seccomp:\t2\nSeccomp_filters:\t3\n"), 3u);
  EXPECT_EQ(filters_of("Seccomp:\t2\n"), std::nullopt);  // before Linux 5.9
  EXPECT_EQ(filters_of("Seccomp:\t1\nSeccomp_filters:\t0\n"), std::nullopt);
  EXPECT_EQ(filters_of("Seccomp:\t3\nSeccomp_filters:\t1\n"), std::nullopt);
  EXPECT_EQ(filters_of("Seccomp:\t2\nSeccomp_filters:\t0\n"), std::nullopt);
  EXPECT_EQ(filters_of("Seccomp:\t2\nSeccomp_filters:\t\n"), std::nullopt);
  EXPECT_EQ(filters_of("Seccomp:\t2\nSeccomp_filters:\t-1\n"), std::nullopt);
  // It handles SIGSYS.
  EXPECT_EQ(filters_of("SigCgt:\t0000000040000000\nSeccomp:\t0\nSeccomp_filters:\t0\n"),
            std::nullopt);
}

TEST(FiltersOf, OneThreadHasOthers) {
  const std::string none = "State:\tS (sleeping)\nSeccomp:\t0\nSeccomp_filters:\t0\n";
  const std::string one = "State:\tS (sleeping)\nSeccomp:\t2\nSeccomp_filters:\t1\n";
  const std::string ended = "State:\tZ (zombie)\nSeccomp:\t2\nSeccomp_filters:\t4\n";
  const Tid nobody = 0x7fffffff;
  std::optional<uint32_t> each;
  EXPECT_FALSE(has_other_filters(nobody, ended, each));
  EXPECT_EQ(each, std::nullopt);
  EXPECT_FALSE(has_other_filters(nobody, one, each));
  EXPECT_EQ(each, 1u);
  EXPECT_FALSE(has_other_filters(nobody, one, each));
  EXPECT_FALSE(has_other_filters(nobody, ended, each));
  EXPECT_TRUE(has_other_filters(nobody, none, each));
}

}  // namespace
}  // namespace tracewell::target::live
