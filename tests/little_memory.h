// EXPECT_IN_MEMORY(BYTES, STATEMENT): the statement does with so many bytes more than the process
// has. A child runs it under a limit, so that one that takes more fails instead of the machine.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sanitized.h"

namespace tracewell::test {

/// Of this process, from now on.
inline void limit_memory(uint64_t more_bytes) {
#ifndef TRACEWELL_SANITIZED  // whose shadow has far more than any limit that would mean something
  unsigned long pages = 0;
  std::FILE* const statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr || std::fscanf(statm, "%lu", &pages) != 1) std::abort();
  std::fclose(statm);
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit = {most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::abort();
#else
  (void)more_bytes;
#endif
}

}  // namespace tracewell::test

#define EXPECT_IN_MEMORY(bytes, statement)       \
  EXPECT_EXIT(                                   \
      {                                          \
        ::tracewell::test::limit_memory(bytes);  \
        statement;                               \
        std::_Exit(::testing::Test::HasFailure() ? 1 : 0); \
      },                                         \
      testing::ExitedWithCode(0), "")
