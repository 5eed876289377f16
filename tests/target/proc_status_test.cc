// /proc/PID/status, by lines: the name of a thread may look like one of them.
#include "target/linux/kernel/ptrace.h"

#include <string_view>

#include <unistd.h>

#include <gtest/gtest.h>

namespace tracewell::target::live {
namespace {

constexpr std::string_view kStatus =
    "Name:\tSeccomp:\t0\nTgid:\t12\nVmLck:\t       0 kB\nNSpid:\t12\t1\nSeccomp:\t2\nCpus:\n";

TEST(StatusValue, IsWhatTheLineOfThatNameSays) {
  EXPECT_EQ(status_value(kStatus, "Name"), "Seccomp:\t0");
  EXPECT_EQ(status_value(kStatus, "Seccomp"), "2");
  EXPECT_EQ(status_value(kStatus, "VmLck"), "0 kB");
  EXPECT_EQ(status_value(kStatus, "NSpid"), "12\t1");
  EXPECT_EQ(status_value(kStatus, "Cpus"), "");
  EXPECT_EQ(status_value(kStatus, "Seccom"), "");
  EXPECT_EQ(status_value("", "Name"), "");
}

TEST(StatusValue, OfThisProcess) {
  const auto status = proc_status(getpid());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->tgid, getpid());
  EXPECT_EQ(status->parent, getppid());
  EXPECT_EQ(status->tracer, 0);
}

}  // namespace
}  // namespace tracewell::target::live
