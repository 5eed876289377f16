// Every case of ax/, compiled: what the interpreter does with it, native code does. Memory and all
// else is the host's of those cases, asked through the context's calls.
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ax/case_reader.h"
#include "native_runner.h"

namespace tracewell::axjit {
namespace {

struct HostContext {
  static constexpr size_t kRegisters = 16;

  tracewell_native_context context{};
  ax::RecordingHost* host = nullptr;
  uint64_t saved[kRegisters] = {};
  std::vector<uint64_t> cells;
};

ax::RecordingHost& host_of(tracewell_native_context* context) {
  return *reinterpret_cast<HostContext*>(context)->host;
}

constexpr tracewell_native_calls kCaseCalls = {
    .trace_memory = [](tracewell_native_context* context, uint64_t address, uint64_t size) {
      return int{host_of(context).trace_memory(address, size)};
    },
    .trace_string = [](tracewell_native_context* context, uint64_t address, uint64_t max) {
      return int{host_of(context).trace_string(address, max)};
    },
    .trace_variable = [](tracewell_native_context* context, uint64_t number, uint64_t) {
      return int{host_of(context).trace_variable(static_cast<unsigned>(number))};
    },
    .get_variable = [](tracewell_native_context*, uint64_t) { return uint64_t{0}; },
    .read_memory = [](tracewell_native_context* context, uint64_t address, void* to,
                      uint64_t size) {
      return int{host_of(context).read_memory(address, to, size)};
    },
    .print = [](tracewell_native_context* context, uint64_t function, uint64_t channel,
                const char* format, const uint64_t* arguments, uint64_t count) {
      return int{host_of(context).print(function, channel, format, {arguments, count})};
    },
};

/// Runs the case's code on its host.
void run_native(NativeRunner& runner, ax::Case& it, WatchedRun& run) {
  HostContext around;
  around.context.calls = &kCaseCalls;
  around.host = &it.host;
  std::vector<RegisterPlace> registers;
  std::vector<VariablePlace> variables;
  ASSERT_LE(it.host.registers.size(), HostContext::kRegisters);
  for (const auto& [number, value] : it.host.registers) {
    const size_t index = registers.size();
    around.saved[index] = value;
    const size_t offset = offsetof(HostContext, saved) + sizeof(uint64_t) * index;
    registers.push_back({number, static_cast<int32_t>(offset), 8});
  }
  for (const auto& [number, value] : it.host.variables) {
    const auto offset = static_cast<uint32_t>(8 * around.cells.size());
    variables.push_back({number, VariablePlace::Kind::Cell, offset});
    around.cells.push_back(value);
  }
  around.context.variables = around.cells.data();
  const auto compiled = compile(it.code, it.purpose,
                                {registers, variables, MemoryReads::Called, ax::kBudget});
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  runner.load(*compiled);
  run = runner.run(around.context);
  EXPECT_EQ(run.changed & ~compiled->clobbers, 0);
  size_t next = 0;
  for (auto& [number, value] : it.host.variables) value = around.cells[next++];
}

TEST(AxjitCases, DoWhatTheInterpreterDoes) {
  NativeRunner runner;
  size_t ran = 0;
  for (ax::Case& it : ax::read_cases()) {
    SCOPED_TRACE(it.where + ": " + it.name);
    if (!it.refused.empty()) {
      const auto compiled = compile(it.code, it.purpose, {});
      ASSERT_FALSE(compiled.ok());
      EXPECT_EQ(compiled.error().message, it.refused);
      EXPECT_FALSE(survey(it.code, it.purpose).ok());
      continue;
    }
    if (it.host.order == Endian::Big) continue;
    ++ran;
    ax::RecordingHost host = it.host;
    const ax::Outcome expected = ax::run(it.code, host);
    std::erase_if(host.log, [](const std::string& line) { return line.starts_with("set "); });
    WatchedRun run;
    run_native(runner, it, run);
    EXPECT_EQ(run.outcome.status & TRACEWELL_NATIVE_FAULT_MASK,
              static_cast<uint64_t>(expected.fault));
    EXPECT_EQ(run.outcome.status >> TRACEWELL_NATIVE_OFFSET_SHIFT, expected.offset);
    EXPECT_EQ((run.outcome.status & TRACEWELL_NATIVE_NO_VALUE) == 0, expected.has_value);
    EXPECT_EQ(run.outcome.value, expected.value);
    EXPECT_EQ(it.host.log, host.log);
    EXPECT_EQ(it.host.variables, host.variables);
  }
  EXPECT_GT(ran, 80u);
}

}  // namespace
}  // namespace tracewell::axjit
