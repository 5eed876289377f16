// Properties of the formats of executed instructions: what they can carry comes back.
#include <algorithm>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/endian.h"
#include "formats/random_steps.h"
#include "formats/support.h"
#include "formats/tenet.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

/// Both formats show the program counter with each step, as a register too; what was random here
/// told it as where the step is.
std::string without_pc(const std::string& lines) {
  static const std::regex told(R"x((,?)"[re]ip":"0x[0-9a-f]+"(,?))x");
  std::string out;
  std::sregex_iterator at(lines.begin(), lines.end(), told), end;
  size_t from = 0;
  for (; at != end; ++at) {
    out.append(lines, from, static_cast<size_t>(at->position()) - from);
    if (at->length(1) != 0 && at->length(2) != 0) out += ',';
    from = static_cast<size_t>(at->position() + at->length());
  }
  out += lines.substr(from);
  constexpr std::string_view kNothing = "\"before\":{},";
  for (size_t one; (one = out.find(kNothing)) != std::string::npos;)
    out.erase(one, kNothing.size());
  return out;
}

void expect_same_through(const RandomSteps& trace, std::string_view format) {
  ListSource source(trace.catalog, trace.events().events());
  const std::string file = written(source, format);
  ASSERT_FALSE(file.starts_with("error")) << file;
  Opened again(file);
  ASSERT_TRUE(again.source) << again.error;
  ListSource first(trace.catalog, trace.events().events());
  ASSERT_EQ(without_path(without_pc(written(*again.source, "jsonl"))), written(first, "jsonl"));
  for (const Problem& problem : again.problems->kept()) ADD_FAILURE() << problem.text;
  ASSERT_TRUE(converted(file, format) == file);
}

TEST(StepsProperty, Tenet) {
  for (uint32_t seed = 1; seed <= 60; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    RandomSteps::Wanted wanted;
    wanted.wide = seed % 3 != 0;
    wanted.as_left = true;
    const auto names = tenet_registers(wanted.wide ? "x86-64" : "i386");
    wanted.registers.assign(names.begin(), names.end() - 1);
    expect_same_through(RandomSteps(seed, wanted), "tenet");
  }
}

/// A line of accesses that overlap, touch and repeat each other.
std::string tenet_accesses(std::mt19937& random) {
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  constexpr std::string_view kWords[] = {"mr", "mw", "mrw"};
  std::string line;
  for (uint32_t n = below(7); n != 0; --n) {
    const uint32_t size = 1U << below(5);
    line += fmt::format(",{}={:#x}:", kWords[below(3)], 0x1000 + below(6) * 4 + below(2));
    for (uint32_t i = 0; i < size; ++i) line += fmt::format("{:02x}", below(3));
  }
  return line;
}

TEST(StepsProperty, TenetIsTheSameEverAfterItWasWrittenOnce) {
  for (uint32_t seed = 1; seed <= 300; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string log;
    for (int i = 0; i < 4; ++i) log += fmt::format("rip={:#x}{}\n", i, tenet_accesses(random));
    const std::string once = converted(log, "tenet");
    ASSERT_EQ(converted(once, "tenet"), once) << log;
  }
}

/// What an instruction read where it also wrote, and beside that.
TEST(StepsProperty, TenetKeepsReadsOfWhatTheirInstructionWrote) {
  const std::string log =
      "rip=0x1\n"
      "rip=0x2,mr=0x1008:0102030405060708,mr=0x2000:01,mw=0x100c:05060708,mr=0x2000:01\n";
  EXPECT_TRUE(converted(log, "tenet")
                  .ends_with("\nrip=0x2,mr=0x1008:0102030405060708,mr=0x2000:01,mw=0x100c:05060708,"
                             "mr=0x2000:01\n"));
}

TEST(StepsProperty, Tvt) {
  for (uint32_t seed = 1; seed <= 30; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    RandomSteps::Wanted wanted;
    wanted.wide = seed % 3 != 0;
    wanted.threads = 1 + seed % 4;
    wanted.opcodes = wanted.notes = true;
    const RegisterLayout layout =
        wanted.wide ? machine::x86_64_layout({}) : machine::i386_layout({});
    for (const Register& one : layout.registers)
      if (one.size_bytes <= 8 && &one != layout.pc()) wanted.registers.push_back(one.name);
    expect_same_through(RandomSteps(seed, wanted), "tvt");
  }
}

/// A thread's registers, added up from what its steps tell, are the same in what was written from
/// a trace of several threads as in the trace.
TEST(StepsProperty, TenetKeepsTheFirstThread) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomSteps::Wanted wanted;
    wanted.threads = 3;
    wanted.registers = {"rax", "rsp"};
    const RandomSteps trace(seed, wanted);
    const uint64_t tid = trace.events().events()[0].tid;
    std::vector<std::vector<uint64_t>> expected;
    std::vector<uint64_t> now(2);
    const auto take = [&](std::span<const Step::RegisterChange> changes) {
      for (const Step::RegisterChange& change : changes)
        now[trace.catalog.registers.registers[change.index].name == "rsp"] =
            load_uint(change.value.data(), 8, Endian::Little);
    };
    for (const Event& event : trace.events().events()) {
      if (event.tid != tid) continue;
      const Step& step = std::get<Step>(event.body);
      take(step.before);
      expected.push_back({step.pc, now[0], now[1]});
      take(step.registers);
    }
    ListSource source(trace.catalog, trace.events().events());
    Opened again(written(source, "tenet"));
    ASSERT_TRUE(again.source);
    std::vector<std::vector<uint64_t>> got;
    Batch batch;
    const uint32_t rax = machine::x86_64::kRax, rsp = machine::x86_64::kRsp;
    std::vector<uint64_t> all(trace.catalog.registers.registers.size());
    const auto add = [&](std::span<const Step::RegisterChange> changes) {
      for (const Step::RegisterChange& change : changes)
        all[change.index] = load_uint(change.value.data(), 8, Endian::Little);
    };
    while (*again.source->next(batch)) {
      for (const Event& event : batch.events()) {
        const Step& step = std::get<Step>(event.body);
        add(step.before);
        got.push_back({step.pc, all[rax], all[rsp]});
        add(step.registers);
      }
    }
    EXPECT_EQ(got, expected);
  }
}

TEST(StepsProperty, CutFilesLoseOnlyWhatWasCut) {
  RandomSteps::Wanted wanted;
  wanted.opcodes = true;
  wanted.registers = {"rax", "rbx"};
  const RandomSteps trace(5, wanted);
  for (const std::string_view format : {"tenet", "tvt"}) {
    ListSource source(trace.catalog, trace.events().events());
    const std::string file = written(source, format);
    const size_t lines_before = format == "tvt" ? 1 : 0;
    for (size_t size = file.size() * 2 / 3; size < file.size();
         size += (file.size() / 600 + 1) * tracewell::test::kEach) {
      const std::string cut = file.substr(0, size);
      Opened opened(cut, format);
      ASSERT_TRUE(opened.source) << opened.error;
      uint64_t steps = 0;
      Batch batch;
      while (*opened.source->next(batch)) steps += batch.size();
      const auto whole = static_cast<size_t>(std::count(cut.begin(), cut.end(), '\n'));
      EXPECT_GE(steps + lines_before, whole) << format << " at " << size;
    }
  }
}

}  // namespace
}  // namespace tracewell::formats::test
