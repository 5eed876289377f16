// Random programs: what a recorder saw is what is read, from any place, in any style.
// TRACEWELL_ROUNDS=10: that many programs of each kind, some ten million steps.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>

#include "formats/trace64/model.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

/// Where registers are in a dump, by the format's description: word, byte in it, size. Those with
/// numbers follow each other, `step` words apart.
struct NamedPlace {
  const char* name;
  uint32_t word, byte, size;
  uint32_t count = 1, step = 0;
  const char* suffix = "";
};
constexpr NamedPlace kPlaces64[] = {
    {"rax", 0, 0, 8},        {"rcx", 1, 0, 8},         {"rdx", 2, 0, 8},
    {"rbx", 3, 0, 8},        {"rsp", 4, 0, 8},         {"rbp", 5, 0, 8},
    {"rsi", 6, 0, 8},        {"rdi", 7, 0, 8},         {"r8", 8, 0, 8},
    {"r9", 9, 0, 8},         {"r1", 10, 0, 8, 6, 1},   {"rip", 16, 0, 8},
    {"eflags", 17, 0, 4},    {"gs", 18, 0, 2},         {"fs", 18, 2, 2},
    {"es", 18, 4, 2},        {"ds", 18, 6, 2},         {"cs", 19, 0, 2},
    {"ss", 19, 2, 2},        {"dr", 20, 0, 8, 4, 1},   {"dr6", 24, 0, 8},
    {"dr7", 25, 0, 8},       {"fctrl", 36, 0, 2},      {"fstat", 36, 2, 2},
    {"ftag", 36, 4, 2},      {"mxcsr", 39, 4, 4},      {"xmm", 40, 0, 16, 16, 2},
    {"ymm", 74, 0, 16, 16, 4, "h"}, {"last_error", 171, 4, 4},
};
constexpr NamedPlace kPlaces32[] = {
    {"eax", 0, 0, 4},        {"ecx", 1, 0, 4},         {"edx", 2, 0, 4},
    {"ebx", 3, 0, 4},        {"esp", 4, 0, 4},         {"ebp", 5, 0, 4},
    {"esi", 6, 0, 4},        {"edi", 7, 0, 4},         {"eip", 8, 0, 4},
    {"eflags", 9, 0, 4},     {"gs", 10, 0, 2},         {"fs", 10, 2, 2},
    {"es", 11, 0, 2},        {"ds", 11, 2, 2},         {"cs", 12, 0, 2},
    {"ss", 12, 2, 2},        {"dr", 13, 0, 4, 4, 1},   {"dr6", 17, 0, 4},
    {"dr7", 18, 0, 4},       {"fctrl", 39, 0, 2},      {"fstat", 39, 2, 2},
    {"ftag", 40, 0, 2},      {"mxcsr", 46, 0, 4},      {"xmm", 48, 0, 16, 8, 4},
    {"ymm", 84, 0, 16, 8, 8, "h"}, {"last_error", 215, 0, 4},
};

class Checker {
 public:
  Checker(const RegisterLayout& layout, bool wide) : layout_(layout), wide_(wide) {
    const uint32_t word = wide ? 8 : 4;
    for (const NamedPlace& one : wide ? std::span<const NamedPlace>(kPlaces64) : kPlaces32)
      for (uint32_t i = 0; i < one.count; ++i)
        add(one.name + (one.count == 1 ? "" : std::to_string(i)) + one.suffix,
            (one.word + i * one.step) * word + one.byte, one.size);
    for (uint32_t i = 0; i < 8; ++i) st_.push_back(index_of("st" + std::to_string(i)));
  }

  /// Do these registers say what the moment's words say?
  bool same(const RegisterState& state, const Moment& moment) const {
    uint8_t dump[1376];
    const size_t p = wide_ ? 8 : 4;
    for (size_t i = 0; i < moment.words.size(); ++i)
      for (size_t byte = 0; byte < p; ++byte)
        dump[i * p + byte] = static_cast<uint8_t>(moment.words[i] >> (8 * byte));
    for (const Field& one : fields_)
      if (!holds(state, one.index, {dump + one.at, one.size})) return false;
    const size_t area = wide_ ? 208 : 76, status = wide_ ? 290 : 158;
    const uint32_t top = dump[status + 1] >> 3 & 7;
    for (uint32_t i = 0; i < 8; ++i)
      if (!holds(state, st_[i], {dump + area + 10 * ((top + i) & 7), 10})) return false;
    return true;
  }

 private:
  struct Field {
    uint32_t index = 0;
    size_t at = 0, size = 0;
  };
  uint32_t index_of(const std::string& name) const {
    const Register* const one = layout_.find(name);
    EXPECT_TRUE(one != nullptr) << name;
    return one == nullptr ? 0 : static_cast<uint32_t>(one - layout_.registers.data());
  }
  void add(const std::string& name, size_t at, size_t size) {
    fields_.push_back({index_of(name), at, size});
  }
  /// Wider registers are zero above.
  bool holds(const RegisterState& state, uint32_t index, Bytes wanted) const {
    const Register& one = layout_.registers[index];
    const Bytes value = Bytes(state.block).subspan(one.offset, one.size_bytes);
    return state.is_valid(index) && value.size() >= wanted.size() &&
           std::equal(wanted.begin(), wanted.end(), value.begin()) &&
           std::all_of(value.begin() + static_cast<ptrdiff_t>(wanted.size()), value.end(),
                       [](uint8_t byte) { return byte == 0; });
  }

  const RegisterLayout& layout_;
  bool wide_;
  std::vector<Field> fields_;
  std::vector<uint32_t> st_;
};

/// By step: the next one of its thread that was recorded, or SIZE_MAX.
std::vector<size_t> next_steps(const std::vector<Moment>& moments) {
  std::vector<size_t> out(moments.size(), SIZE_MAX);
  std::map<uint32_t, size_t> next;
  for (size_t i = moments.size() - 1; i-- > 0;) {
    const auto [found, last] = next.try_emplace(moments[i].tid, i);
    if (!last) out[i] = std::exchange(found->second, i);
  }
  return out;
}

/// Each byte of each entry is told, with its values before and after. (What a write has overwritten
/// is not known where pushes may have been recorded late.) Where no entry is nothing is known.
bool same_memory(const Step& step, const Moment& moment, bool wide) {
  const uint64_t word = wide ? 8 : 4;
  const auto has_entry = [&](const Step::MemoryAccess& one) {
    return std::any_of(moment.entries.begin(), moment.entries.end(), [&](const Entry& entry) {
      return one.address - entry.address < word;
    });
  };
  for (const Step::MemoryAccess& one : step.memory)
    if (!has_entry(one) && !(one.old_bytes.empty() && one.new_bytes.empty())) return false;
  for (const Entry& entry : moment.entries) {
    for (uint64_t i = 0; i < word; ++i) {
      const auto before = static_cast<uint8_t>(entry.old_word >> 8 * i);
      const auto after = static_cast<uint8_t>(entry.new_word.value_or(entry.old_word) >> 8 * i);
      const auto tells = [&](const Step::MemoryAccess& one) {
        const uint64_t at = entry.address + i - one.address;
        if (at >= one.size) return false;
        if (one.old_bytes.empty())
          return one.kind == Step::MemoryAccess::Kind::Write && !one.new_bytes.empty() &&
                 one.new_bytes[at] == after;
        return one.old_bytes[at] == before &&
               (one.new_bytes.empty() ? after == before : one.new_bytes[at] == after);
      };
      if (std::none_of(step.memory.begin(), step.memory.end(), tells)) return false;
    }
  }
  return true;
}

/// Adds up what the steps tell, from step `from` on, and compares with what was recorded: before
/// each step, and after it, also where another thread goes on.
void expect_steps(Source& source, const std::vector<Moment>& moments, bool wide) {
  const RegisterLayout& layout = source.catalog().registers;
  const Checker checker(layout, wide);
  const std::vector<size_t> next = next_steps(moments);
  std::map<uint64_t, RegisterState> threads;
  Batch batch;
  size_t at = 0;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      ASSERT_TRUE(step);
      const Moment& moment = moments[at];
      ASSERT_EQ(event.seq, at);
      ASSERT_EQ(event.tid, moment.tid);
      ASSERT_EQ(as_text(step->opcode), moment.opcode);
      RegisterState& state = threads[event.tid];
      const bool is_new = state.block.empty();
      if (is_new) state.reset(layout);
      for (const auto& change : step->before) {
        // Nothing is left to tell, but for what an operand shows.
        ASSERT_TRUE(is_new || layout.registers[change.index].name == "gs_base") << at;
        state.set(layout, change.index, change.value);
      }
      ASSERT_TRUE(checker.same(state, moment)) << at;
      ASSERT_TRUE(same_memory(*step, moment, wide)) << at;
      for (const auto& change : step->registers)
        if (!change.value.empty()) state.set(layout, change.index, change.value);
      ASSERT_EQ(step->after_known, next[at] != SIZE_MAX) << at;
      if (next[at] != SIZE_MAX && next[at] != at + 1) {
        ASSERT_TRUE(checker.same(state, moments[next[at]])) << at;
      }
      ++at;
    }
  }
  EXPECT_EQ(at, moments.size() - 1);
}

// Where sanitizers watch every load, a part of the steps will do.
#ifdef TRACEWELL_SANITIZED
constexpr size_t kSlower = 24;
#else
constexpr size_t kSlower = 1;
#endif

struct Program {
  uint32_t threads, switch_percent;
  bool wide;
  size_t steps;
};

class Trace64Property : public ::testing::TestWithParam<Program> {};

void expect_exactly_read_back(const Program& param, uint32_t seed) {
  RandomProgram program(seed, param.wide, param.threads, param.switch_percent);
  const auto moments = program.run(param.steps / kSlower + 1);
  const std::string json = head(param.wide ? kJson64 : kJson32);
  const std::string bytes = json + record(moments, {param.wide, param.threads == 3});
  Opened opened(bytes, "trace64");
  ASSERT_TRUE(opened.source);
  expect_steps(*opened.source, moments, param.wide);

  StepIndex& index = *opened.source->steps();
  ASSERT_EQ(index.count(), moments.size() - 1);
  const Checker checker(opened.source->catalog().registers, param.wide);
  StepIndex::Moment moment;
  for (size_t i = 0; i < 100; ++i) {
    const uint64_t seq = program.number() % index.count();
    ASSERT_TRUE(index.state_before(seq, moment).ok());
    EXPECT_EQ(moment.tid, moments[seq].tid);
    EXPECT_TRUE(checker.same(moment.registers, moments[seq])) << seq;
  }
  // Rewriting gives the same bytes; the minimal form says the same with fewer.
  const std::string same = rewritten(bytes);
  if (param.threads != 3) {
    EXPECT_TRUE(same == bytes);
  }
  Opened again(bytes, "trace64");
  TempFolder folder;
  auto file = OutputFile::create(folder.file("minimal"));
  auto sink =
      find_format("trace64")->create(*std::move(file), {.compat = false, .style = "minimal"});
  ASSERT_TRUE(pump(*again.source, **sink).ok());
  const std::string minimal = read_file(folder.file("minimal"));
  EXPECT_LT(minimal.size(), bytes.size());
  Opened small(minimal, "trace64");
  expect_steps(*small.source, moments, param.wide);
  // Among millions of steps, a note may say that one could be read in another way.
  EXPECT_EQ(small.problems->count(Problem::Severity::Warning), 0u)
      << small.problems->kept().front().text;
  EXPECT_TRUE(rewritten(minimal) == minimal);
}

TEST_P(Trace64Property, IsReadBackExactly) {
  const Program& param = GetParam();
  const char* const rounds = std::getenv("TRACEWELL_ROUNDS");
  for (int round = 0; round < (rounds ? std::atoi(rounds) : 1); ++round) {
    SCOPED_TRACE(round);
    expect_exactly_read_back(
        param, param.threads * 7 + param.wide + 100 * static_cast<uint32_t>(round));
  }
}

// Cases 42 and 43: more than a million steps, x64 and x86.
INSTANTIATE_TEST_SUITE_P(Case42And43, Trace64Property,
                         ::testing::Values(Program{1, 0, true, 150000},
                                           Program{1, 0, false, 150000},
                                           Program{2, 30, true, 50000},
                                           Program{2, 4, false, 50000},
                                           Program{3, 5, false, 150000},
                                           Program{3, 10, true, 150000},
                                           Program{4, 60, false, 50000},
                                           Program{4, 7, true, 50000},
                                           Program{5, 2, true, 150000},
                                           Program{5, 8, false, 150000}));

}  // namespace
}  // namespace tracewell::formats::test
