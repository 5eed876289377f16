// What a trace's steps add up to, and writing with options.
#pragma once

#include <map>
#include <string>

#include "formats/support.h"
#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::test {

inline std::string saved(Source& source, SaveOptions options) {
  TempFolder folder;
  auto file = OutputFile::create(folder.file("out"));
  auto sink = find_format("trace64")->create(*std::move(file), options);
  EXPECT_TRUE(sink.ok());
  const Status status = pump(source, **sink);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return read_file(folder.file("out"));
}

/// Writes with --compat: what the writer says that the file leaves out, a line each. Nothing of our
/// own stands in the file.
inline std::string left_out_by_compat(Source& source) {
  TempFolder folder;
  auto sink = find_format("trace64")->create(*OutputFile::create(folder.file("out")),
                                             {.compat = true, .sound = false, .style = ""});
  const Status status = pump(source, **sink);
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(read_file(folder.file("out")).find(trace64::kOwnSignature), std::string::npos);
  std::string told;
  for (const std::string& line : (*sink)->left_out()) told += line + "\n";
  return told;
}

/// Each thread's registers before each step, by what the steps tell.
inline std::map<uint64_t, RegisterState> registers_of(const std::string& bytes) {
  Opened opened(bytes, "trace64");
  const RegisterLayout& layout = opened.source->catalog().registers;
  std::map<uint64_t, RegisterState> threads, out;
  Batch batch;
  uint64_t seq = 0;
  while (*opened.source->next(batch)) {
    for (const Event& event : batch.events()) {
      const Step& step = std::get<Step>(event.body);
      RegisterState& state = threads[event.tid];
      if (state.block.empty()) state.reset(layout);
      for (const auto& change : step.before) state.set(layout, change.index, change.value);
      out[seq++] = state;
      for (const auto& change : step.registers)
        if (!change.value.empty()) state.set(layout, change.index, change.value);
    }
  }
  return out;
}

}  // namespace tracewell::formats::test
