// Two runs of a few real instructions that part because of a value: how it got to the branch.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "machine/usage.h"
#include "machine/x86.h"
#include "timeline/diff/diff.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"

namespace tracewell::timeline::test {
namespace {

/// Writes a trace step by step, with the values that its caller says.
class Writer {
 public:
  explicit Writer(uint64_t base) : pc_(base) {
    catalog_.machine = "x86-64";
    catalog_.registers = machine::x86_64_layout({});
  }
  using Values = std::map<std::string, uint64_t>;

  Step::MemoryAccess access(Step::MemoryAccess::Kind kind, uint64_t address, uint64_t old_value,
                            uint64_t new_value) {
    Step::MemoryAccess out{address, kind, 8, bytes(old_value, 8), {}};
    if (kind == Step::MemoryAccess::Kind::Write) out.new_bytes = bytes(new_value, 8);
    return out;
  }
  void add(const std::string& opcode, const Values& before, const Values& after,
           std::vector<Step::MemoryAccess> memory = {}) {
    std::vector<uint8_t> code(opcode.size() / 2);
    for (size_t i = 0; i < code.size(); ++i)
      code[i] = static_cast<uint8_t>(std::stoul(opcode.substr(2 * i, 2), nullptr, 16));
    Step step;
    step.pc = pc_;
    step.opcode = batch_.copy(Bytes(code));
    step.before = changes(before);
    step.registers = changes(after);
    step.memory = batch_.copy_array(std::span<const Step::MemoryAccess>(memory));
    Event& event = batch_.add();
    event.seq = seq_++;
    event.tid = 1;
    event.body = step;
    pc_ += code.size();
  }
  void jump(uint64_t bytes) { pc_ += bytes; }
  void lose() {
    Event& event = batch_.add();
    event.seq = seq_;
    event.body = Lost{0, "a test"};
  }
  std::unique_ptr<StepStore> store() {
    tracewell::test::ListSource source(catalog_, batch_.events());
    auto out = StepStore::read(source);
    return out.ok() ? std::move(*out) : nullptr;
  }

 private:
  Bytes bytes(uint64_t value, size_t size) {
    uint8_t out[8];
    store_uint(out, value, size, Endian::Little);
    return batch_.copy(Bytes(out, size));
  }
  std::span<const Step::RegisterChange> changes(const Values& values) {
    std::vector<Step::RegisterChange> out;
    for (const auto& [name, value] : values) {
      const Register* one = catalog_.registers.find(name);
      out.push_back({static_cast<uint32_t>(one - catalog_.registers.registers.data()),
                     bytes(value, one->size_bytes)});
    }
    return batch_.copy_array(std::span<const Step::RegisterChange>(out));
  }

  Catalog catalog_;
  Batch batch_;
  uint64_t pc_, seq_ = 0;
};

/// A number goes from rcx through memory into rax and is compared with 5.
std::unique_ptr<StepStore> run(Writer& out, uint64_t heap, uint64_t number, size_t waits) {
  using Kind = Step::MemoryAccess::Kind;
  constexpr uint64_t kNotZero = 0x202, kZero = 0x246;
  out.add("48890f", {{"rdi", heap}, {"rcx", number}, {"rsp", heap + 0x7010}, {"rax", 0},
                     {"eflags", kNotZero}}, {},
          {out.access(Kind::Write, heap, 0, number)});               // mov [rdi], rcx
  out.add("4889fe", {}, {{"rsi", heap}});                            // mov rsi, rdi
  for (size_t i = 0; i < waits; ++i) out.add("90", {}, {});
  out.add("488b06", {}, {{"rax", number}}, {out.access(Kind::Read, heap, number, 0)});
  const bool same = number == 5;                                     // mov rax, [rsi]
  if (same)
    out.add("4883f805", {}, {{"eflags", kZero}});                    // cmp rax, 5
  else
    out.add("4883f805", {}, {});
  out.add("7404", {}, {});                                           // jz
  if (same) out.jump(4);
  for (int i = same ? 4 : 0; i < 34; ++i) out.add("90", {}, {});
  return out.store();
}

/// Reads the number three times over: into rax, where the runs part if it is not 5 in both, and one
/// of them increments rdx; into rbx, with nothing else to decide; and then rdx is what decides.
/// `lost`: steps are missing behind the first parting.
std::unique_ptr<StepStore> run_of_three(Writer& out, uint64_t number, bool stores, bool lost) {
  using Kind = Step::MemoryAccess::Kind;
  constexpr uint64_t kHeap = 0x7f0000001000, kNotZero = 0x202, kZero = 0x246;
  const bool same = number == 5;
  out.add("90", {{"rsi", kHeap}, {"rsp", kHeap + 0x7010}, {"rax", 0}, {"rbx", 0}, {"rdx", 0},
                 {"eflags", kNotZero}}, {});
  const auto decide = [&](const std::string& compare, const std::string& own) {
    out.add(compare, {}, {{"eflags", same ? kZero : kNotZero}});
    out.add("7404", {}, {});  // jz
    if (same) {
      out.jump(4);
    } else {
      out.add(own, {}, own == "90" ? Writer::Values{} : Writer::Values{{"rdx", 1}});
      for (size_t i = own.size() / 2; i < 4; ++i) out.add("90", {}, {});
    }
    for (int i = 0; i < 34; ++i) out.add("90", {}, {});
  };
  out.add("488b06", {}, {{"rax", number}}, {out.access(Kind::Read, kHeap, number, 0)});
  decide("4883f805", "48ffc2");  // cmp rax, 5; inc rdx
  if (lost) out.lose();
  if (stores)                    // mov [rsi], rax
    out.add("488906", {}, {}, {out.access(Kind::Write, kHeap, number, number)});
  out.add("488b1e", {}, {{"rbx", number}}, {out.access(Kind::Read, kHeap, number, 0)});
  decide("4883fb05", "90");      // cmp rbx, 5
  decide("4883fa00", "90");      // cmp rdx, 0
  return out.store();
}

std::string name_of(const StepStore& store, const Cause& cause) {
  return cause.reg ? store.catalog().registers.registers[*cause.reg].name : "memory";
}

TEST(DiffCause, IsFollowedToItsOrigin) {
  for (const size_t waits : {size_t{0}, size_t{10}, size_t{5000}}) {
    SCOPED_TRACE(waits);
    Writer of_a(0x401000), of_b(0x55550000f000);  // they own what the events say
    const auto a = run(of_a, 0x7f0000001000, 5, waits);
    const auto b = run(of_b, 0x7e0000031000, 6, waits);
    const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, {});
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->threads.at(0).differences.size(), 1u);
    const Difference& one = report->threads[0].differences[0];
    const uint64_t branch = 4 + waits;
    EXPECT_EQ(one.branch_a->seq, branch);
    EXPECT_EQ(one.only_a, 0u);
    EXPECT_EQ(one.only_b, 4u);
    ASSERT_EQ(one.causes.size(), 4u);
    const char* const kNames[] = {"eflags", "rax", "memory", "rcx"};
    const uint64_t readers[] = {branch, branch - 1, branch - 2, 0};
    const std::optional<uint64_t> writers[] = {branch - 1, branch - 2, 0, {}};
    for (size_t i = 0; i < 4; ++i) {
      const Cause& cause = one.causes[i];
      EXPECT_EQ(name_of(*a, cause), kNames[i]);
      EXPECT_EQ(cause.a.reader.seq, readers[i]);
      EXPECT_EQ(cause.b.reader.seq, readers[i]);
      EXPECT_EQ(cause.a.writer.has_value(), writers[i].has_value());
      if (cause.a.writer && writers[i]) {
        EXPECT_EQ(cause.a.writer->seq, *writers[i]);
      }
      EXPECT_EQ(cause.because, i > 0 ? std::optional(i - 1) : std::nullopt);
    }
    EXPECT_EQ(one.causes[0].flags, 0x40u);
    EXPECT_EQ(one.causes[2].a.address, 0x7f0000001000u);
    EXPECT_EQ(one.causes[2].b.address, 0x7e0000031000u);
    EXPECT_EQ(one.causes[3].a.value, (std::vector<uint8_t>{5, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(one.causes[3].b.value, (std::vector<uint8_t>{6, 0, 0, 0, 0, 0, 0, 0}));
  }
}

TEST(DiffCause, LooksBackNoFurtherThanItMay) {
  Writer of_a(0x401000), of_b(0x401000);
  const auto a = run(of_a, 0x7f0000001000, 5, 5000), b = run(of_b, 0x7f0000001000, 7, 5000);
  DiffOptions options;
  options.look_back = 100;
  const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, options);
  ASSERT_TRUE(report.ok());
  const Difference& one = report->threads.at(0).differences.at(0);
  EXPECT_EQ(one.branch_a->seq, 5004u);
  ASSERT_EQ(one.causes.size(), 3u);
  EXPECT_FALSE(one.causes[2].a.writer);
}

/// The last cause of a difference: where all of them come from.
const Cause& origin_of(const DiffReport& report, size_t difference) {
  return report.threads.at(0).differences.at(difference).causes.back();
}

TEST(DiffCause, IsFollowedToAnEarlierDifference) {
  Writer of_a(0x401000), of_b(0x401000);
  const auto a = run_of_three(of_a, 5, false, false), b = run_of_three(of_b, 6, false, false);
  const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, {});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->threads.at(0).differences.size(), 3u);
  for (const Cause& cause : report->threads[0].differences[0].causes)
    EXPECT_FALSE(cause.earlier) << "there is none before the first";
  EXPECT_EQ(name_of(*a, origin_of(*report, 0)), "memory");

  const Cause& second = origin_of(*report, 1);
  EXPECT_EQ(name_of(*a, second), "memory");
  ASSERT_TRUE(second.earlier) << "what decided the first time is what decides again";
  EXPECT_EQ(second.earlier->difference, 0u);
  EXPECT_EQ(second.earlier->cause, report->threads[0].differences[0].causes.size() - 1);

  const Cause& third = origin_of(*report, 2);
  EXPECT_EQ(name_of(*a, third), "rdx");
  ASSERT_TRUE(third.earlier) << "one run alone has changed it";
  EXPECT_EQ(third.earlier->difference, 0u);
  EXPECT_FALSE(third.earlier->cause);
  EXPECT_FALSE(third.a.writer);
  ASSERT_TRUE(third.b.writer);
  EXPECT_EQ(third.b.writer->seq, 4u);
}

/// A value that was stored anew is followed to what it was stored from.
TEST(DiffCause, IsFollowedThroughWhatWasStoredSince) {
  Writer of_a(0x401000), of_b(0x401000);
  const auto a = run_of_three(of_a, 5, true, false), b = run_of_three(of_b, 6, true, false);
  const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, {});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->threads.at(0).differences.size(), 3u);
  const auto& causes = report->threads[0].differences[1].causes;
  ASSERT_EQ(causes.size(), 4u);  // eflags, rbx, memory, and rax, which was stored there
  EXPECT_FALSE(causes[2].earlier) << "it is another value in the same place";
  EXPECT_EQ(name_of(*a, causes[3]), "rax");
  ASSERT_TRUE(causes[3].earlier);
  EXPECT_EQ(causes[3].earlier->difference, 0u);
  const Cause& first = report->threads[0].differences[0].causes.at(*causes[3].earlier->cause);
  EXPECT_EQ(name_of(*a, first), "rax");
}

/// Behind missing steps nobody knows who wrote what, and nothing is claimed.
TEST(DiffCause, NothingIsClaimedAcrossMissingSteps) {
  Writer of_a(0x401000), of_b(0x401000);
  const auto a = run_of_three(of_a, 5, false, true), b = run_of_three(of_b, 6, false, true);
  const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, {});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->threads.at(0).differences.size(), 3u);
  const auto& differences = report->threads[0].differences;
  EXPECT_EQ(differences[0].kind, Difference::Kind::Parts);
  EXPECT_EQ(differences[1].kind, Difference::Kind::Missing) << "both lack steps in front of it";
  EXPECT_TRUE(differences[1].causes.empty());
  EXPECT_EQ(differences[2].kind, Difference::Kind::Missing)
      << "they seem to have met anew, but with other registers";
  EXPECT_TRUE(differences[2].causes.empty());
  for (const Difference& one : differences)
    for (const Cause& cause : one.causes) EXPECT_FALSE(cause.earlier);
}

TEST(InstructionUsage, ReadsAndWrites) {
  const uint8_t kClear[] = {0x31, 0xc0}, kHigh[] = {0x00, 0xe1}, kBad[] = {0x06};
  const machine::Usage clear = machine::usage_of(Bytes(kClear), 8);
  ASSERT_EQ(clear.registers.size(), 1u);  // xor eax, eax
  EXPECT_EQ(clear.registers[0].name, "rax");
  EXPECT_FALSE(clear.registers[0].reads);
  EXPECT_TRUE(clear.registers[0].writes);
  EXPECT_EQ(clear.flags_read, 0u);
  EXPECT_NE(clear.flags_written & 0x40, 0u);
  const machine::Usage high = machine::usage_of(Bytes(kHigh), 4);  // add cl, ah
  ASSERT_EQ(high.registers.size(), 2u);
  EXPECT_EQ(high.registers[0].name, "ecx");
  EXPECT_EQ(high.registers[1].name, "eax");
  EXPECT_EQ(high.registers[1].first_byte, 1u);
  EXPECT_EQ(high.registers[1].bytes, 1u);
  EXPECT_FALSE(machine::usage_of(Bytes(kBad), 8).known);
}

}  // namespace
}  // namespace tracewell::timeline::test
