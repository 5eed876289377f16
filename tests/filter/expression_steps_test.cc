// What `--where` asks of executed instructions.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "filter/expression.h"
#include "filter/select.h"
#include "machine/described.h"
#include "machine/x86.h"

namespace tracewell::filter {
namespace {

using Access = Step::MemoryAccess;

class StepExpression : public testing::Test {
 protected:
  StepExpression() {
    catalog_.machine = "x86-64";
    catalog_.registers = machine::x86_64_layout({});
    catalog_.modules = {{"C:\\dir\\prog.exe", 0, 0x1000, 0x1000, ""},
                        {"/lib/other.so", 0, 0, 0, ""}};
    state_.reset(catalog_.registers);
    store_uint(rax_, 0x1122334455667788, 8, Endian::Little);
    state_.set(catalog_.registers, 0, rax_);
    changes_ = {{1, rbx_}, {3, {}}};  // rdx: to what nobody knows
    accesses_ = {{0x7000, Access::Kind::Read, 8, eight_, {}},
                 {0x7100, Access::Kind::Write, 4, {}, four_},
                 {0x7200, Access::Kind::ReadWrite, 2, two_, {}},
                 {0x7300, Access::Kind::Nearby, 8, eight_, eight_},
                 {UINT64_MAX - 1, Access::Kind::Write, 8, {}, {}}};
    step_.pc = 0x1004;
    step_.opcode = opcode_;
    step_.registers = changes_;
    step_.memory = accesses_;
    event_.tid = 7;
    event_.body = step_;
  }
  bool holds(std::string_view text, bool with_state = true) {
    AddressWords words;
    words.symbol = [](uint64_t pc) { return pc == 0x1004 ? std::string("main+4") : ""; };
    auto expression = Expression::parse(text, catalog_, words);
    EXPECT_TRUE(expression.ok()) << text << ": " << expression.error().message;
    return expression.ok() && expression->matches(event_, with_state ? &state_ : nullptr);
  }
  std::string error(std::string_view text) {
    auto expression = Expression::parse(text, catalog_);
    return expression.ok() ? "" : expression.error().message;
  }

  Catalog catalog_;
  RegisterState state_;
  uint8_t rax_[8], rbx_[8] = {5}, eight_[8] = {1, 1}, four_[4] = {0x2a}, two_[2] = {9};
  uint8_t opcode_[4] = {0xf3, 0x48, 0xa5, 0x90};  // rep movsq, and a byte behind it
  std::vector<Step::RegisterChange> changes_;
  std::vector<Access> accesses_;
  Step step_;
  Event event_;
};

TEST_F(StepExpression, Instructions) {
  for (const char* yes :
       {"mnemonic == 'movsq'", "mnemonic =~ '^movs'", "mnemonic =~ \"MOVSQ\"",
        "mnemonic =~ 'cmps|movs'", "disassembly =~ '^rep movsq'"})
    EXPECT_TRUE(holds(yes)) << yes;
  for (const char* no : {"mnemonic == 'rep'", "mnemonic =~ '^ovs'", "disassembly =~ '^$'"})
    EXPECT_FALSE(holds(no)) << no;
  step_.opcode = Bytes(opcode_, 1);  // no instruction
  event_.body = step_;
  EXPECT_FALSE(holds("mnemonic || mnemonic =~ '' || disassembly"));
}

TEST_F(StepExpression, InstructionsOfSeveralNames) {
  const uint8_t jump[] = {0x75, 0x10};
  step_.opcode = jump;
  event_.body = step_;
  for (const char* yes : {"mnemonic == 'jne'", "mnemonic == 'jnz'", "'jne' == mnemonic",
                          "mnemonic =~ '^jne$'", "mnemonic =~ '^jnz$'", "mnemonic != 'je'"})
    EXPECT_TRUE(holds(yes)) << yes;
  for (const char* no : {"mnemonic != 'jne'", "mnemonic != 'jnz'", "'jnz' != mnemonic",
                         "mnemonic == 'jz'", "mnemonic == 'ne'"})
    EXPECT_FALSE(holds(no)) << no;
}

TEST_F(StepExpression, Places) {
  for (const char* yes :
       {"pc in 0x1000..0x1004", "pc in 0x1004", "pc in 0x1000,5", "module == 'prog.exe'",
        "symbol =~ '^main'", "symbol", "tid in 1..7", "!(pc in 0x1005..0xffffffffffffffff)"})
    EXPECT_TRUE(holds(yes)) << yes;
  for (const char* no : {"pc in 0x1000,4", "pc in 0x1005..0x1006", "module == 'other.so'",
                         "time_ns in 0..1"})
    EXPECT_FALSE(holds(no)) << no;
}

TEST_F(StepExpression, RegistersAreThoseOfTheThread) {
  for (const char* yes :
       {"$rax == 0x1122334455667788", "rax == 0x1122334455667788", "$rax.before == $rax",
        "$eax == 0x55667788", "ax == 0x7788", "$al == 0x88", "ah == 0x77", "$rbx == 5",
        "$bl == 5", "!($rbx.before == 0) && !($rbx.before != 0)"})
    EXPECT_TRUE(holds(yes)) << yes;
  // rdx: known before, or not; after the step it is not.
  state_.set(catalog_.registers, 3, rax_);
  EXPECT_TRUE(holds("$rdx.before == 0x1122334455667788"));
  EXPECT_FALSE(holds("$rdx == 0x1122334455667788 || $rdx != 0x1122334455667788 || $rcx == 0"));
  EXPECT_FALSE(holds("$rax == 0x1122334455667788", false));
  EXPECT_TRUE(Expression::parse("seq == 1 || $al == 1", catalog_)->names_registers());
  EXPECT_FALSE(Expression::parse("write[1] == 1", catalog_)->names_registers());
}

TEST_F(StepExpression, WhatIsNotKnownAfterAStepIsNotAsBefore) {
  step_.after_known = false;
  event_.body = step_;
  EXPECT_FALSE(holds("$rax == 0x1122334455667788"));
  EXPECT_FALSE(holds("$rax != 0x1122334455667788"));
  EXPECT_TRUE(holds("$rax.before == 0x1122334455667788"));
  EXPECT_TRUE(holds("$rbx == 5")) << "the step tells it";
}

TEST_F(StepExpression, MemoryOfAnInstruction) {
  for (const char* yes :
       {"read", "write", "access", "read[0x7007]", "read[0x6000..0x7000]", "write[0x7103,1]",
        "write[0x7200]", "read[0x7201]", "access[0x7100..0x71ff] == 42", "write == 0x2a",
        "read == 257", "read > 256", "access in 42..43", "read[0x7200] == 9",
        "write[0xffffffffffffffff]", "write[0x7100] != 1"})
    EXPECT_TRUE(holds(yes)) << yes;
  for (const char* no :
       {"read[0x7100]", "write[0x7000,8]", "read[0x7008..0x70ff]", "access[0x7300,8]",
        "read[0x7000] == 9", "write == 257", "write[0x7200] == 9", "access[0]",
        "write[0xffffffffffffffff] == 0"})
    EXPECT_FALSE(holds(no)) << no;
  event_.body = Mark{.text = "here"};
  EXPECT_FALSE(holds("access || pc || $rax == 1 || mnemonic"));
  EXPECT_TRUE(holds("text =~ 'HER'"));
}

TEST_F(StepExpression, MistakesAreLocated) {
  EXPECT_NE(error("mnemonic =~ call").find("in quotes"), std::string::npos);
  EXPECT_NE(error("mnemonic =~ '('").find("character 13"), std::string::npos);
  EXPECT_NE(error("mnemonic =~ '" + std::string(2000, 'a') + "'").find("long"),
            std::string::npos);
  EXPECT_NE(error("pc in 5..4").find("nothing is in"), std::string::npos);
  EXPECT_NE(error("pc in 5,0").find("nothing is in"), std::string::npos);
  EXPECT_NE(error("pc in 0xffffffffffffffff,2").find("nothing is in"), std::string::npos);
  EXPECT_NE(error("pc in").find("expected a number"), std::string::npos);
  EXPECT_NE(error("read[").find("expected a number"), std::string::npos);
  EXPECT_NE(error("read[1").find("bracket"), std::string::npos);
  EXPECT_NE(error("$nope == 1").find("no such register"), std::string::npos);
  EXPECT_NE(error("nope == 1").find("mnemonic"), std::string::npos);
  EXPECT_NE(error("$xmm0").find("wider"), std::string::npos);
  EXPECT_NE(error("$rax.after").find("expected &&, || or the end"), std::string::npos);
}

TEST_F(StepExpression, WhatIsNeverTrueIsRefused) {
  for (const char* mixed : {"kind == 7", "pc == 'main'", "7 != mnemonic", "$rax < \"5\"",
                            "write[1] == 'a'", "tid == 7 && text == 1"})
    EXPECT_NE(error(mixed).find("a number is compared with a text"), std::string::npos) << mixed;
  EXPECT_NE(error("kind in 1..2").find("numbers alone are in a range"), std::string::npos);
  EXPECT_NE(error("pc =~ '^40'").find("patterns are found in texts alone"), std::string::npos);
  EXPECT_NE(error("tid == 7 && symbol == 'main'").find("character 13"), std::string::npos);
  EXPECT_NE(error("symbol").find("--image"), std::string::npos);
  EXPECT_NE(error("pc == 40a000").find("begins with 0x"), std::string::npos);
}

TEST_F(StepExpression, NumbersThatMayBeHexadecimal) {
  const auto numbers = [&](std::string_view text) {
    std::string out;
    for (const Expression::Spelled& one : Expression::parse(text, catalog_)->spelled_numbers())
      out += one.text + (one.hook ? "h " : " ");
    return out;
  };
  EXPECT_EQ(numbers("pc == 401000 || 12 < $rax"), "401000 12 ");
  EXPECT_EQ(numbers("pc in 0x10..20 && write[400,4] == 7 && read"), "0x10 7 400 ");
  EXPECT_EQ(numbers("id == 010 && subhook == -3"), "010h -3 ");
  EXPECT_EQ(numbers("step == 500 || tid != 12 || mnemonic == '12' || 3 == 4"), "");
}

TEST(PartsOfRegisters, AreThoseOf32BitProgramsToo) {
  Catalog catalog;
  catalog.machine = "i386";
  catalog.registers = machine::i386_layout({});
  for (const char* good : {"$al == 1", "$ah == 1", "si == 1", "$eax == 1"})
    EXPECT_TRUE(Expression::parse(good, catalog).ok()) << good;
  for (const char* bad : {"$r8d == 1", "$sil == 1", "$rax == 1"})
    EXPECT_FALSE(Expression::parse(bad, catalog).ok()) << bad;
}

/// What a test wrote down, a batch at a time.
class ListedSource final : public Source {
 public:
  explicit ListedSource(std::vector<std::vector<Event>> batches) : batches_(std::move(batches)) {
    catalog_.registers = machine::x86_64_layout({});
  }
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    if (at_ == batches_.size()) return false;
    for (const Event& event : batches_[at_]) batch.add() = event;
    ++at_;
    return true;
  }

 private:
  Catalog catalog_;
  std::vector<std::vector<Event>> batches_;
  size_t at_ = 0;
};

Event step_of(uint64_t seq, uint64_t tid, std::span<const Step::RegisterChange> registers) {
  Step step;
  step.registers = registers;
  Event event;
  event.seq = seq;
  event.tid = tid;
  event.body = step;
  return event;
}
Event mark_of(uint64_t seq, std::string_view text, bool session = false) {
  Event event;
  event.seq = seq;
  event.body = Mark{.text = text, .session = session};
  return event;
}

std::string selected(std::vector<std::vector<Event>> batches, std::string_view where) {
  auto source = std::make_unique<ListedSource>(std::move(batches));
  Selection selection;
  selection.where = *Expression::parse(where, source->catalog());
  const auto chosen = select(std::move(source), std::move(selection));
  std::string out;
  Batch batch;
  while (*chosen->next(batch))
    for (const Event& event : batch.events()) {
      const auto* mark = std::get_if<Mark>(&event.body);
      out += (mark ? std::string(mark->text) : std::to_string(event.seq)) + " ";
    }
  return out;
}

TEST(SelectSteps, RegistersAreFollowedByThread) {
  const uint8_t five[8] = {5}, six[8] = {6};
  const Step::RegisterChange rax5[] = {{0, five}}, rax6[] = {{0, six}};
  const std::vector<std::vector<Event>> run = {
      {step_of(0, 1, rax5), step_of(1, 2, rax6), step_of(2, 1, {}), step_of(3, 2, {})},
      {step_of(4, 1, rax6), mark_of(5, "again", true), step_of(5, 1, {}), step_of(6, 2, {})}};
  EXPECT_EQ(selected(run, "$rax == 5"), "0 2 ");
  EXPECT_EQ(selected(run, "$rax == 6"), "1 3 4 ");
  EXPECT_EQ(selected(run, "$rax.before == 5"), "2 4 ");
  EXPECT_EQ(selected(run, "$rax != $rax.before"), "4 ");
}

TEST(SelectSteps, NotesStayWithTheirStep) {
  const std::vector<std::vector<Event>> run = {
      {mark_of(0, "a"), step_of(0, 1, {}), mark_of(1, "b"), mark_of(1, "c")},
      {step_of(1, 1, {}), mark_of(2, "d"), step_of(2, 1, {}), mark_of(3, "e")},
      {mark_of(3, "f")},
      {step_of(3, 1, {}), mark_of(4, "end")}};
  EXPECT_EQ(selected(run, "seq == 1 && kind == 'step'"), "b c 1 ");
  EXPECT_EQ(selected(run, "kind == 'step' && seq > 2"), "e f 3 ");
  EXPECT_EQ(selected(run, "kind == 'step' && seq < 1"), "a 0 ");
  EXPECT_EQ(selected(run, "text == 'd' || text == 'e'"), "d e ");
}

}  // namespace
}  // namespace tracewell::filter
