// User blocks of our own: notes, and registers that nobody knows.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "formats/random_steps.h"
#include "formats/trace64/blocks/user.h"
#include "formats/trace64/model.h"
#include "formats/trace64/read_back.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

/// "name=value …" of what is known of the registers of the thread before each step.
std::vector<std::string> known_registers(Source& source, const RegisterLayout& of) {
  const RegisterLayout& layout = source.catalog().registers;
  std::map<uint64_t, RegisterState> threads;
  std::vector<std::string> out;
  Batch batch;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (!step) continue;
      RegisterState& state = threads[event.tid];
      if (state.block.empty()) state.reset(layout);
      for (const auto& change : step->before) state.set(layout, change.index, change.value);
      std::string line;
      for (const Register& one : of.registers) {
        const Register* here = layout.find(one.name);
        if (!here || here == layout.pc()) continue;
        const auto index = static_cast<uint32_t>(here - layout.registers.data());
        // Segments and words of the x87 have 16 bits in the file.
        const bool narrow = one.name.size() == 2 || one.name[0] == 'f';
        if (state.is_valid(index))
          line += one.name + "=" +
                  to_hex(Bytes(state.block).subspan(here->offset, narrow ? 2 : here->size_bytes)) +
                  " ";
      }
      out.push_back(line);
      for (const auto& change : step->registers) state.set(layout, change.index, change.value);
    }
  }
  return out;
}

TEST(Trace64User, UnknownRegistersStayUnknown) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    RandomSteps::Wanted wanted;
    wanted.wide = seed % 2 == 0;
    wanted.threads = 1 + seed % 3;
    wanted.opcodes = true;
    if (wanted.wide)
      wanted.registers = {"rax", "rsp", "xmm3", "es", "fctrl", "mxcsr", "st1"};
    else
      wanted.registers = {"eax", "esp", "gs", "xmm3", "fstat"};
    RandomSteps made(seed, wanted);
    ListSource from(made.catalog, made.events().events());
    const auto expected = known_registers(from, made.catalog.registers);
    for (const char* style : {"minimal", "x64dbg"}) {
      ListSource again(made.catalog, made.events().events());
      const std::string bytes = saved(again, {.compat = false, .style = style});
      Opened opened(bytes, "trace64");
      ASSERT_TRUE(opened.source) << opened.error;
      EXPECT_EQ(known_registers(*opened.source, made.catalog.registers), expected)
          << "seed " << seed << " " << style;
      EXPECT_EQ(opened.problems->count(), 0u);
      // Once more, and in the middle.
      EXPECT_TRUE(rewritten(bytes) == bytes) << "seed " << seed << " " << style;
      StepIndex& steps = *opened.source->steps();
      for (uint64_t seq = 0; seq < steps.count(); seq += 1 + seq / 4) {
        StepIndex::Moment moment;
        ASSERT_TRUE(steps.state_before(seq, moment).ok());
        const RegisterLayout& layout = opened.source->catalog().registers;
        for (uint32_t i = 0; i < layout.registers.size(); ++i) {
          const bool told = expected[seq].find(layout.registers[i].name + "=") == 0 ||
                            expected[seq].find(" " + layout.registers[i].name + "=") !=
                                std::string::npos;
          if (!made.catalog.registers.find(layout.registers[i].name) || layout.pc_index == i)
            continue;
          EXPECT_EQ(moment.registers.is_valid(i), told)
              << seed << " " << seq << " " << layout.registers[i].name;
        }
      }
    }
  }
}

/// Behind a loss nobody looks for what a thread has left: it may be unknown by the time that the
/// thread goes on.
TEST(Trace64User, UnknownRegistersStayUnknownBesideLosses) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    RandomSteps::Wanted wanted;
    wanted.wide = seed % 2 == 0;
    wanted.threads = 3;
    wanted.opcodes = true;
    if (wanted.wide)
      wanted.registers = {"rax", "rsp", "xmm3", "fctrl"};
    else
      wanted.registers = {"eax", "esp", "gs", "xmm3"};
    RandomSteps made(seed, wanted);
    std::vector<Event> events;
    for (const Event& event : made.events().events()) {
      if (event.seq % 11 == 10) {
        Event lost;
        lost.seq = event.seq;
        lost.body = Lost{0, "x"};
        events.push_back(lost);
      }
      events.push_back(event);
    }
    ListSource from(made.catalog, events);
    const auto expected = known_registers(from, made.catalog.registers);
    for (const char* style : {"minimal", "x64dbg"}) {
      ListSource again(made.catalog, events);
      const std::string bytes = saved(again, {.compat = false, .style = style});
      Opened opened(bytes, "trace64");
      ASSERT_TRUE(opened.source) << opened.error;
      EXPECT_EQ(known_registers(*opened.source, made.catalog.registers), expected)
          << "seed " << seed << " " << style;
      // A short file does not show its style.
      const std::string once_more = rewritten(bytes);
      EXPECT_TRUE(rewritten(once_more) == once_more) << "seed " << seed << " " << style;
    }
  }
}

/// What a thread's steps told is kept for so many threads. Behind that, its next step tells all.
TEST(Trace64User, UnknownRegistersStayUnknownInMoreThreadsThanAreKept) {
  std::string lines = R"({"catalog":{"machine":"x86-64"}})" "\n";
  const auto step = [&](int tid, int seq, std::string_view more) {
    lines += fmt::format(R"({{"kind":"step","tid":{},"seq":{},"pc":"0x10","opcode":"90",{}}})" "\n",
                         tid, seq, more);
  };
  constexpr int kThreads = 1500;
  for (int i = 0; i < kThreads; ++i)
    step(4 + 4 * i, i, fmt::format(R"("before":{{"rax":"{:#x}"}})", i + 1));
  for (int i = 0; i < kThreads; ++i)
    step(4 + 4 * i, kThreads + i, i % 2 == 0 ? R"("before":{"rax":null})" : R"("before":{})");
  Opened from{lines};
  ASSERT_TRUE(from.source) << from.error;
  const std::string bytes = saved(*from.source, {.compat = false, .style = "x64dbg"});
  Opened opened(bytes, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  const auto known = known_registers(*opened.source, opened.source->catalog().registers);
  ASSERT_EQ(known.size(), 2u * kThreads);
  for (int i = 0; i < kThreads; ++i)
    EXPECT_EQ(known[kThreads + i].starts_with("rax="), i % 2 != 0) << i;
}

constexpr std::string_view kNoted = R"({"catalog":{"machine":"i386"}}
{"kind":"mark","text":"first"}
{"kind":"step","seq":0,"pc":"0x10","opcode":"90","before":{"eax":"0x1"}}
{"kind":"step","seq":1,"pc":"0x11","opcode":"90","registers":{"eax":null}}
{"kind":"mark","seq":2,"text":"two\nlines"}
{"kind":"mark","seq":2,"text":"and one"}
{"kind":"lost","seq":2,"count":3,"why":"gone"}
{"kind":"step","seq":2,"pc":"0x12","opcode":"90","before":{"ebx":"0x0"}}
{"kind":"mark","seq":3,"text":"the end"}
)";

TEST(Trace64User, NotesStandBesideTheirSteps) {
  std::string told;
  const std::string bytes = converted(kNoted, "trace64", &told);
  EXPECT_EQ(told.find("left out: "), std::string::npos) << told;
  Opened opened(bytes, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  std::string notes;
  for (const Note& note : opened.source->catalog().notes)
    notes += std::to_string(note.step) + " " + note.text + ";";
  EXPECT_EQ(notes, "0 first;2 two\nlines;2 and one;3 the end;");
  // They are the pipeline's business: without it, rewriting writes none.
  EXPECT_EQ(rewritten(bytes).find("two\nlines"), std::string::npos);
  const auto known = known_registers(*opened.source, opened.source->catalog().registers);
  ASSERT_EQ(known.size(), 3u);
  EXPECT_EQ(known[1].rfind("eax=01000000", 0), 0u) << known[1];
  EXPECT_EQ(known[2].find("eax="), std::string::npos) << known[2];
  EXPECT_NE(known[2].find("ebx=00000000"), std::string::npos) << known[2];
}

TEST(Trace64User, CompatSaysWhatIsLost) {
  Opened opened{std::string(kNoted)};
  const std::string told = left_out_by_compat(*opened.source);
  EXPECT_NE(told.find("4 notes are left out"), std::string::npos) << told;
  EXPECT_NE(told.find("3 instructions show registers that are not known as 0"), std::string::npos)
      << told;
}

std::string recorder(Source& source) {
  for (const auto& [key, value] : source.summary()->facts())
    if (key == "recorder") return value;
  return "";
}

std::vector<Module> some_modules() {
  Module program{"C:\\p.exe", 0x10000, 0x140010000, 0x8000, "", 0x1234};
  Module library{"C:\\a\xff.dll", UINT64_MAX, 0x7ffa0c000000, 0x21000, "aabbcc01", {}};
  Module elsewhere{"unplaced.dll", 0, 0, 0, std::string(200, 'a'), 0};
  return {program, library, elsewhere};
}

std::string text_of(const std::vector<Module>& modules) {
  std::string out;
  for (const Module& one : modules)
    out += one.path + " " + std::to_string(one.bias) + " " + std::to_string(one.start) + " " +
           std::to_string(one.size_bytes) + " " + one.build_id + " " +
           (one.hash ? std::to_string(*one.hash) : "-") + "\n";
  return out;
}

/// Whatever of them the header cannot say; a header that says all has no blocks beside it.
/// A loop of `push rax` that says nothing of what was in its slots; of the registers, rax and rsp
/// are known. A note at each full dump.
std::string pushes_of_unknown_slots(size_t steps) {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.address_bytes = 8;
  catalog.registers = machine::x86_64_layout({});
  const auto index = [&](std::string_view name) {
    return static_cast<uint32_t>(catalog.registers.find(name) -
                                 catalog.registers.registers.data());
  };
  Batch batch;
  const auto word = [&](uint64_t value) {
    uint8_t bytes[8];
    store_uint(bytes, value, 8, Endian::Little);
    return batch.copy(Bytes(bytes));
  };
  const uint8_t push = 0x50;
  for (size_t i = 0; i < steps; ++i) {
    if (i % 512 == 0) {
      Event& note = batch.add();
      note.seq = i;
      note.body = Mark{.text = "a full dump"};
    }
    const uint64_t sp = 0x7fff00000000 - 8 * (i % 100);
    const Step::RegisterChange before[] = {{index("rsp"), word(sp)}, {index("rax"), word(i)}};
    const Step::MemoryAccess slot = {sp - 8, Step::MemoryAccess::Kind::Write, 8, {}, word(i)};
    Step step;
    step.pc = 0x1000;
    step.opcode = batch.copy(Bytes(&push, 1));
    step.before = batch.copy_array(std::span<const Step::RegisterChange>(before));
    step.memory = batch.copy_array(std::span<const Step::MemoryAccess>(&slot, 1));
    Event& event = batch.add();
    event.seq = i;
    event.tid = 1;
    event.body = step;
  }
  ListSource source(catalog, batch.events());
  return saved(source, {.compat = false, .style = "minimal"});
}

/// Of any step: what was in the slots, and rbx. Returns how many steps there are, and notes.
std::pair<size_t, size_t> expect_nothing_made_up(const std::string& bytes) {
  ReadBack got(bytes);
  for (const Step& step : got.steps)
    for (const auto& access : step.memory) EXPECT_TRUE(access.old_bytes.empty());
  StepIndex& index = *got.opened.source->steps();
  const RegisterLayout& layout = got.opened.source->catalog().registers;
  const auto rbx = static_cast<uint32_t>(layout.find("rbx") - layout.registers.data());
  for (uint64_t seq = 0; seq < index.count(); seq += 1 + seq / 7) {
    StepIndex::Moment moment;
    EXPECT_TRUE(index.state_before(seq, moment).ok());
    EXPECT_FALSE(moment.registers.is_valid(rbx)) << seq;
  }
  return {got.steps.size(), got.opened.source->catalog().notes.size()};
}

TEST(Trace64User, NoDamageMakesKnownWhatIsNot) {
  const std::string whole = pushes_of_unknown_slots(2000);
  EXPECT_EQ(expect_nothing_made_up(whole), (std::pair<size_t, size_t>(2000, 4)));
  for (size_t cut = 4000; cut < whole.size(); cut += 7001)
    expect_nothing_made_up(whole.substr(0, cut));
  const std::string sign = std::string("TRACEWEL") + '\1' + '\6';
  size_t third = 0;  // where the third full dump's blocks begin
  for (int i = 0; i < 3; ++i) third = whole.find(sign, third + 1);
  for (const size_t before : {900u, 2000u, 12000u})
    for (const char fill : {'\0', '\xff', '\x90'}) {
      std::string broken = whole;
      std::fill_n(broken.begin() + static_cast<ptrdiff_t>(third - before), 200, fill);
      const auto [steps, notes] = expect_nothing_made_up(broken);
      EXPECT_GT(steps, 1400u);
      EXPECT_EQ(notes, 4u) << "of step 1024 as well, which stands in front of its dump";
      EXPECT_EQ(expect_nothing_made_up(rewritten(broken)).first, steps);
    }
}

TEST(Trace64User, LossesKeepTheirCounts) {
  const std::pair<uint64_t, std::string> cases[] = {{0, "why"}, {7, "why"},    {7, ""},
                                                    {0, ""},    {0, "12: it"}, {3, "12: it"},
                                                    {0, ": "},  {0, "x 7: "}, {UINT32_MAX, "y"}};
  for (const auto& [count, why] : cases) {
    const std::string text = trace64::missing_text(count, why);
    std::string_view rest = text;
    EXPECT_EQ(trace64::take_missing_count(rest), count) << text;
    EXPECT_EQ(rest, why) << text;
  }
  const std::string lost = R"({"catalog":{"machine":"x86-64","address_bytes":8}}
{"kind":"step","seq":0,"pc":"0x1","opcode":"90"}
{"kind":"lost","seq":1,"count":7,"why":"x"}
{"kind":"lost","seq":1,"count":5,"why":"y"}
{"kind":"step","seq":1,"pc":"0x2","opcode":"90"}
)";
  const std::string back = converted(converted(lost, "trace64"), "jsonl");
  EXPECT_NE(back.find(R"("count":12,"why":"x; y")"), std::string::npos) << back;
}

/// Who begins in the middle is told what stands in front of the step at which he begins.
TEST(Trace64User, WhatIsInFrontIsToldWhereReadingBegins) {
  const std::string lines = R"({"catalog":{"machine":"x86-64","address_bytes":8}}
{"kind":"step","seq":0,"pc":"0x1","opcode":"90"}
{"kind":"lost","seq":1,"count":7,"why":"x"}
{"kind":"step","seq":1,"pc":"0x2","opcode":"90"}
{"kind":"mark","seq":2,"text":"session 2","session":true}
{"kind":"step","seq":2,"pc":"0x3","opcode":"90"}
{"kind":"lost","seq":3,"count":1,"why":"end"}
)";
  Opened opened(converted(lines, "trace64"), "trace64");
  ASSERT_TRUE(opened.source);
  const std::map<uint64_t, std::string> kinds = {{0, "0:s "},
                                                 {1, "1:l 1:s "},
                                                 {2, "2:m 2:s "},
                                                 {3, "3:l "}};
  for (uint64_t from = 0; from <= 3; ++from) {
    ASSERT_TRUE(opened.source->seekable()->seek(from).ok());
    std::string got, wanted;
    for (auto at = kinds.find(from); at != kinds.end(); ++at) wanted += at->second;
    Batch batch;
    while (*opened.source->next(batch))
      for (const Event& event : batch.events())
        got += std::to_string(event.seq) + (std::holds_alternative<Step>(event.body)   ? ":s "
                                            : std::holds_alternative<Lost>(event.body) ? ":l "
                                                                                       : ":m ");
    EXPECT_EQ(got, wanted) << from;
  }
}

TEST(Trace64User, ModulesKeepTheirPlaces) {
  for (const bool wide : {true, false})
    for (size_t count = 0; count <= 3; ++count) {
      RandomSteps::Wanted wanted;
      wanted.wide = wide;
      wanted.opcodes = true;
      wanted.registers = {wide ? "rax" : "eax"};
      RandomSteps made(static_cast<uint32_t>(count), wanted);
      made.catalog.modules = some_modules();
      made.catalog.modules.resize(count);
      if (count == 2) std::swap(made.catalog.modules[0], made.catalog.modules[1]);
      ListSource from(made.catalog, made.events().events());
      const std::string bytes = saved(from, {.compat = false, .style = ""});
      Opened opened(bytes, "trace64");
      ASSERT_TRUE(opened.source) << opened.error;
      EXPECT_EQ(text_of(opened.source->catalog().modules), text_of(made.catalog.modules));
      EXPECT_EQ(opened.problems->count(), 0u);
      EXPECT_EQ(recorder(*opened.source), "Tracewell");
      EXPECT_TRUE(rewritten(bytes) == bytes) << count;
      ListSource again(made.catalog, made.events().events());
      const std::string told = left_out_by_compat(again);
      const std::string_view some = count == 1
                                        ? "1 module, or where it was, is left out"
                                        : "modules, or where they were, are left out";
      EXPECT_EQ(told.find(some) != std::string::npos, count != 0) << told;
    }
  const std::string header = R"({"ver":1,"arch":"x64","compression":"","path":"C:\\p.exe",)"
                             R"("hash":"0x1234"})";
  const std::string plain = head(header) + full_block(1, {{16, 0x10}}).bytes();
  EXPECT_EQ(rewritten(plain), plain);
}

/// One that ends too early is no module; what the header says is not hidden by it.
TEST(Trace64User, ModulesThatAreCut) {
  const std::string json = R"({"ver":1,"arch":"x64","compression":"","path":"C:\\p.exe"})";
  const std::string step = full_block(1, {{16, 0x10}}).bytes();
  const auto block = [](const std::string& path, size_t less) {
    const std::string data = std::string(trace64::kOwnSignature) + "\1\7" + le(0, 8) +
                             le(0x140000000, 8) + le(0x1000, 8) + std::string(10, '\0') +
                             static_cast<char>(path.size()) + path;
    return "\xc0" + le(data.size() - less, 4) + data.substr(0, data.size() - less);
  };
  const std::string whole = block("C:\\p.exe", 0), other = block("D:\\other.dll", 0);
  for (size_t less = 1; less < whole.size() - 15; ++less) {
    SCOPED_TRACE(less);
    const std::string bytes = head(json) + block("C:\\p.exe", less) + other + step;
    Opened opened(bytes, "trace64");
    ASSERT_TRUE(opened.source) << opened.error;
    const auto& modules = opened.source->catalog().modules;
    ASSERT_EQ(modules.size(), 2u);
    EXPECT_EQ(modules[0].path, "C:\\p.exe");
    EXPECT_FALSE(modules[0].is_placed());
    EXPECT_EQ(modules[1].path, "D:\\other.dll");
    ASSERT_EQ(opened.problems->count(Problem::Severity::Damage), 1u);
    EXPECT_EQ(opened.problems->kept()[0].code, "module-cut");
    EXPECT_EQ(opened.problems->kept()[0].offset, head(json).size());
    Opened again(saved(*opened.source, {.compat = false, .sound = true, .style = ""}), "trace64");
    EXPECT_EQ(again.problems->count(Problem::Severity::Warning), 0u) << "what was repaired";
    EXPECT_EQ(text_of(again.source->catalog().modules), text_of(modules));
  }
  // A path that another one begins with is none that was cut.
  Opened opened(head(json) + other + block("C:\\p", 0) + whole + step, "trace64");
  EXPECT_EQ(opened.source->catalog().modules.size(), 3u);
  EXPECT_EQ(opened.problems->count(), 0u);
}

/// What a release to come says of a step may change what the step means.
TEST(Trace64User, LaterBlocksAreTold) {
  const std::string step = full_block(1, {{16, 0x10}}).bytes();
  const std::string signature(trace64::kOwnSignature);
  const auto block = [](const std::string& data) { return "\xc0" + le(data.size(), 4) + data; };
  const char next_kind = static_cast<char>(trace64::kOwnKindMax + 1);
  for (const std::string& what : {std::string("\2\1"), std::string("\1") + next_kind}) {
    const std::string bytes = head(kJson64) + block(signature + what + "hi") + step;
    const Opened opened(bytes, "trace64");
    ASSERT_TRUE(opened.source) << opened.error;
    ASSERT_EQ(opened.problems->count(), 1u);
    const Problem& told = opened.problems->kept()[0];
    EXPECT_EQ(told.code, "user-block-version");
    EXPECT_EQ(told.offset, head(kJson64).size());
    EXPECT_NE(told.text.find(fmt::format("version {}, kind {},", int{what[0]}, int{what[1]})),
              std::string::npos)
        << told.text;
  }
  for (const std::string& none : {std::string("hello"), signature, signature + "\1\1hi"})
    EXPECT_EQ(Opened(head(kJson64) + block(none) + step, "trace64").problems->count(), 0u) << none;
}

/// Blocks of others, of later versions, cut ones: kept as they are, or skipped.
TEST(Trace64User, WhatIsNotOursIsKept) {
  const std::string step = full_block(1, {{16, 0x10}}).bytes();
  auto block = [](std::string data) { return "\xc0" + le(data.size(), 4) + data; };
  const std::string signature(trace64::kOwnSignature);
  for (const std::string& data :
       {std::string(), std::string("TRACE"), signature, signature + "\1", signature + "\2\1hi",
        signature + "\1\7hi", signature + std::string("\1\0hi", 4)}) {
    const std::string bytes = head(kJson64) + step + block(data);
    EXPECT_EQ(rewritten(bytes), bytes) << data;
  }
  // Bits for registers that cannot be unknown, or that are not there; too few, too many.
  for (const size_t size : {0, 1, 300}) {
    const std::string bits(size, '\xff');
    Opened opened(head(kJson64) + block(signature + "\1\2" + bits) + step + step, "trace64");
    ASSERT_TRUE(opened.source) << opened.error;
    StepIndex::Moment moment;
    ASSERT_TRUE(opened.source->steps()->state_before(0, moment).ok());
    EXPECT_EQ(moment.pc, 0x10u);
    EXPECT_TRUE(moment.registers.is_valid(*opened.source->catalog().registers.pc_index));
    EXPECT_EQ(moment.registers.is_valid(0), bits.empty());
    ASSERT_TRUE(opened.source->steps()->state_before(1, moment).ok());
    EXPECT_TRUE(moment.registers.is_valid(0)) << "a block that lists the word tells it";
  }
}

}  // namespace
}  // namespace tracewell::formats::test
