#include "pads/code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "base/endian.h"
#include "pads/program.h"

namespace tracewell::pads {
namespace {

std::vector<uint64_t> entered(const Program& program) {
  const Code code = program.code();
  std::vector<uint64_t> found;
  for (uint64_t i = 0; i < program.bytes.size(); ++i)
    if (code.entered(kAt + i)) found.push_back(i);
  return found;
}

using Places = std::vector<uint64_t>;

TEST(Code, InstructionsBegin) {
  const Code code = Program{{0x55, 0x48, 0x89, 0xe5, 0xc3}}.code();
  EXPECT_TRUE(code.starts(kAt));
  EXPECT_TRUE(code.starts(kAt + 1));
  EXPECT_FALSE(code.starts(kAt + 2));
  EXPECT_TRUE(code.starts(kAt + 4));
  EXPECT_FALSE(code.starts(kAt + 5));
  EXPECT_FALSE(code.starts(kAt - 1));
  EXPECT_EQ(code.length(kAt + 1), 3);
  EXPECT_EQ(code.length(kAt + 2), 0);
}

TEST(Code, InstructionsThatSomebodyElseKnows) {
  // push; nopl 0(%rax,%rax,1); ret, and behind that a function: mov %rsp, %rbp; ret
  Program program{{0x55, 0x0f, 0x1f, 0x44, 0, 0, 0xc3, 0x48, 0x89, 0xe5, 0xc3}};
  program.functions = {{kAt + 7, kAt + 11}};
  Code code = program.code();
  EXPECT_FALSE(code.starts(kAt + 1));
  EXPECT_TRUE(code.assume(kAt + 1));
  EXPECT_EQ(code.length(kAt + 1), 5);
  EXPECT_TRUE(code.entered(kAt + 1));
  EXPECT_FALSE(code.starts(kAt + 6));     // nobody has said so
  EXPECT_FALSE(code.assume(kAt + 3));     // inside of it
  EXPECT_TRUE(code.assume(kAt + 7));      // which is known
  EXPECT_FALSE(code.assume(kAt + 8));
  EXPECT_FALSE(code.assume(kAt + 11));    // outside
}

/// Of what names a restartable sequence.
TEST(Code, InstructionsInFrontOfAPlaceAreKept) {
  // mov %rax, 8(%rsi); nop, once known as a function and once not
  Program program{{0x90, 0x48, 0x89, 0x46, 0x08, 0x90}};
  program.kept_ends = {kAt + 5};
  const auto kept = [&] {
    const Code code = program.code();
    std::string text;
    for (uint64_t i = 0; i < program.bytes.size(); ++i) text += code.kept(kAt + i) ? 'k' : '.';
    return text;
  };
  EXPECT_EQ(kept(), ".kkkk.");
  program.functions = {{kAt + 5, kAt + 6}};
  EXPECT_EQ(kept(), "....k.") << "nobody knows where it begins";
  Code code = program.code();
  EXPECT_FALSE(code.assume(kAt + 1));
  EXPECT_TRUE(code.assume(kAt));
  program.functions.clear();
  program.kept_ends = {kAt, kAt + 1};
  EXPECT_EQ(kept(), "k.....");
}

TEST(Code, WhatIsEntered) {
  // jne +1; nop; nop; ret
  EXPECT_EQ(entered({{0x75, 0x01, 0x90, 0x90, 0xc3}}), (Places{0, 3}));
  // call next; nop; ret: behind the call
  EXPECT_EQ(entered({{0xe8, 0, 0, 0, 0, 0x90, 0xc3}}), (Places{0, 5}));
  // call rax; nop
  EXPECT_EQ(entered({{0xff, 0xd0, 0x90}}), (Places{0, 2}));
  // syscall; nop
  EXPECT_EQ(entered({{0x0f, 0x05, 0x90}}), (Places{0, 2}));
  // nop; endbr64; nop
  EXPECT_EQ(entered({{0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0x90}}), (Places{0, 1}));
  // lea rax, [rip+1]; nop; nop
  EXPECT_EQ(entered({{0x48, 0x8d, 0x05, 1, 0, 0, 0, 0x90, 0x90}}), (Places{0, 8}));
  // ret; pop rax: nobody knows who comes there, but somebody does
  EXPECT_EQ(entered({{0xc3, 0x58, 0x58}}), (Places{0, 1}));
  // je over a lock prefix, into an instruction
  EXPECT_EQ(entered({{0x74, 0x01, 0xf0, 0x48, 0x01, 0x07, 0xc3}}), (Places{0, 3}));
  EXPECT_EQ(entered({.bytes = {0x90, 0x90, 0x90}, .entries = {kAt + 2}}), (Places{0, 2}));
}

TEST(Code, CodeWithoutANameEntersFunctionsToo) {
  // jmp -3, in front of the function
  Program program{{0xeb, 0x01, 0x90, 0x90, 0x90}};
  program.functions = {{kAt + 2, kAt + 5}};
  EXPECT_EQ(entered(program), (Places{2, 3}));
}

TEST(Code, FunctionsThatOverlapAreOne) {
  Program program{{0x90, 0x90, 0x90, 0x90}};
  program.functions = {{kAt, kAt + 3}, {kAt + 1, kAt + 4}};
  EXPECT_EQ(entered(program), (Places{0, 1}));
  EXPECT_TRUE(program.code().starts(kAt + 3));
}

TEST(Code, WhatIsNoInstructionIsNotUnderstood) {
  const Code code = Program{{0x90, 0x06, 0x90, 0xc3}}.code();
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(code.starts(kAt + i));
    EXPECT_TRUE(code.kept(kAt + i));
  }
  EXPECT_FALSE((Program{{0x90, 0xe8, 0}}.code().starts(kAt)));  // cut
}

TEST(Code, JumpsThroughRegistersMayLeadAnywhereInTheFunction) {
  EXPECT_EQ(entered({{0x90, 0x90, 0xff, 0xe0, 0x90, 0xc3}}), (Places{0, 1, 2, 4, 5}));
  // Through a slot for another function, they do not.
  EXPECT_EQ(entered({{0x90, 0x90, 0xff, 0x25, 0, 0, 1, 0}}), (Places{0}));
}

/// lea rdx, [rip + table]; movsxd rax, [rdx + rax*4]; add rax, rdx; jmp rax; nop; nop; nop; ret
Program with_table(uint64_t table) {
  Program program{{0x48, 0x8d, 0x15, 0, 0, 0, 0, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff,
                   0xe0, 0x90, 0x90, 0x90, 0xc3}};
  store_uint(&program.bytes[3], table - (kAt + 7), 4, Endian::Little);
  return program;
}

TEST(Code, TablesOfDistances) {
  const uint64_t table = kAt + 0x2000;
  std::vector<uint8_t> entries(16);
  const uint64_t targets[] = {kAt + 17, kAt + 19, kAt + 17, 3};
  for (size_t i = 0; i < 4; ++i)
    store_uint(&entries[4 * i], targets[i] - table, 4, Endian::Little);
  Program program = with_table(table);
  program.data = {{table, entries}};
  EXPECT_EQ(entered(program), (Places{0, 17, 19}));
  // A table that cannot be read: anything may be entered.
  program.data.clear();
  EXPECT_EQ(entered(program), (Places{0, 7, 11, 14, 16, 17, 18, 19}));
}

TEST(Code, WordsOfTheDataThatAreAddressesOfCode) {
  std::vector<uint8_t> words(20);
  store_uint(&words[4], kAt + 2, 8, Endian::Little);  // not aligned: the area begins at 4
  store_uint(&words[12], kAt + 1, 8, Endian::Little);
  Program program{{0x90, 0x90, 0x90, 0xc3}};
  program.data = {{kAt + 0x2004, words}};
  EXPECT_EQ(entered(program), (Places{0, 1, 2}));
}

TEST(Code, Padding) {
  // ret; nop; int3; nop: the second function
  Program program{{0xc3, 0x90, 0xcc, 0x66, 0x90, 0x55, 0x90, 0xc3, 0xcc}};
  program.functions = {{kAt, kAt + 3}, {kAt + 5, kAt + 8}};
  const Code code = program.code();
  const bool expected[] = {false, true, true, true, true, false, false, false, true};
  for (uint64_t i = 0; i < 9; ++i) EXPECT_EQ(code.padding(kAt + i), expected[i]) << i;
  // Not behind a call: it may return.
  EXPECT_FALSE((Program{{0xff, 0xd0, 0x90, 0x90}}.code().padding(kAt + 2)));
  // Nor where something leads.
  EXPECT_FALSE((Program{{0x74, 0x01, 0xc3, 0x90, 0xc3}}.code().padding(kAt + 3)));
}

TEST(Code, ConstantsAmongTheCodeAreKept) {
  Program program{{0x48, 0x8b, 0x05, 1, 0, 0, 0, 0xc3, 1, 2, 3, 4, 5, 6, 7, 8}};
  program.functions = {{kAt, kAt + 8}};
  EXPECT_TRUE(program.code().kept(kAt + 8));
  EXPECT_FALSE(program.code().kept(kAt + 7));
}

/// Two pages of zeros between code, which says that they are functions and jumps into them.
Program with_empty_pages() {
  constexpr uint64_t kPage = 4096;
  Program program;
  program.bytes.resize(4 * kPage);
  // jmp to the second page; nop; ret. And ret; call to the second byte, in the last one.
  const uint8_t first[] = {0xe9, 0xfb, 0x1f, 0, 0, 0x90, 0xc3};
  const uint8_t last[] = {0xc3, 0xe8, 0xff, 0xcf, 0xff, 0xff};
  std::ranges::copy(first, program.bytes.begin());
  std::ranges::copy(last, program.bytes.begin() + 3 * kPage);
  program.functions = {{kAt, kAt + 7}, {kAt + kPage, kAt + 3 * kPage}};
  return program;
}

TEST(Code, PagesOfZerosAreNoCode) {
  Code code = with_empty_pages().code();
  EXPECT_TRUE(code.starts(kAt + 5));
  EXPECT_FALSE(code.kept(kAt + 4095));  // zeros, in a page with code
  for (const uint64_t at : {kAt + 4096, kAt + 0x2000, kAt + 0x2fff}) {
    EXPECT_TRUE(code.kept(at));
    EXPECT_FALSE(code.starts(at));
    EXPECT_FALSE(code.entered(at));
    EXPECT_FALSE(code.assume(at));
  }
  EXPECT_FALSE(code.kept(kAt + 0x3000));
  EXPECT_EQ(code.bytes_at(kAt + 0x3001)[0], 0xe8);
}

/// As an instruction of two bytes each, from where the function in front of them ends.
TEST(Code, WhatFollowsZerosIsReadAsAfterThem) {
  Program program = with_empty_pages();
  EXPECT_TRUE(program.code().entered(kAt + 5)) << "by the call behind them";
  program.functions.pop_back();  // its end is at an odd place
  EXPECT_TRUE(program.code().entered(kAt + 5)) << "the last zero takes the ret";
  program.bytes[0x3000] = 0x90, program.bytes[0x3001] = 0;
  program.bytes[0x3002] = 0xe8;  // what is called there is not the same place
  EXPECT_FALSE(program.code().entered(kAt + 5));
  program = with_empty_pages();
  program.functions.pop_back();
  std::rotate(program.bytes.begin() + 0x3000, program.bytes.begin() + 0x3001,
              program.bytes.begin() + 0x3006);
  EXPECT_FALSE(program.code().entered(kAt + 4)) << "the last zero takes the call";
}

TEST(Code, LooksUpWhetherAnybodyWaits) {
  Program program;
  for (int i = 0; i < 100'000; ++i) program.bytes.push_back(0x90);
  CodeInput input;
  input.code = {kAt, program.bytes};
  input.functions = {{kAt, kAt + program.bytes.size()}};
  EXPECT_EQ(Code(input).unknown(), nullptr);
  int asked = 0;
  input.stop = [&] { return ++asked != 0; };
  EXPECT_NE(Code(input).unknown(), nullptr);
  EXPECT_EQ(asked, 1) << "it goes no further";
}

/// The processor's time for code that names the data so often, which is one area or many.
double seconds_with(size_t areas, uint64_t names) {
  constexpr uint64_t kData = kAt + 0x100'0000, kApart = 64;
  const std::vector<uint8_t> word(8);
  Program program;
  for (uint64_t i = 0; i < names; ++i) {
    const uint64_t at = program.bytes.size();
    program.bytes.insert(program.bytes.end(), {0x48, 0x8d, 0x05, 0, 0, 0, 0});  // lea
    const uint64_t named = kData + i * areas / names * kApart;  // of all of them
    store_uint(&program.bytes[at + 3], named - (kAt + at + 7), 4, Endian::Little);
  }
  for (size_t i = 0; i < areas; ++i) program.data.push_back({kData + i * kApart, word});
  const std::clock_t begin = std::clock();
  EXPECT_EQ(program.code().unknown(), nullptr);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// A program may map its data in as many pieces as it likes. Looked at one by one, four times as
/// many would take four times as long.
TEST(Code, ManyAreasOfDataTakeNoLonger) {
  const double few = seconds_with(30'000, 60'000), many = seconds_with(120'000, 60'000);
  EXPECT_LT(many, 3 * few + 0.1);
}

/// Each of them names a table, and all tables are one, but for where they begin.
TEST(Code, TablesThatLieOneOverTheOtherAreRefused) {
  constexpr uint64_t kTable = kAt + 0x100'0000, kNames = 1100, kWords = 1 << 16;
  Program program;
  for (uint64_t i = 0; i < kNames; ++i) {
    const uint64_t at = program.bytes.size();
    program.bytes.insert(program.bytes.end(), {0x48, 0x8d, 0x05, 0, 0, 0, 0});  // lea
    store_uint(&program.bytes[at + 3], kTable + 8 * (i % 64) - (kAt + at + 7), 4, Endian::Little);
  }
  std::vector<uint8_t> words(8 * (kWords + 64));
  for (uint64_t i = 0; i < words.size(); i += 8) store_uint(&words[i], kAt, 8, Endian::Little);
  program.data = {{kTable, words}};
  EXPECT_NE(program.code().unknown(), nullptr);
}

/// Of real code: this program's own.
struct OwnCode {
  OwnCode() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    image.assign(std::istreambuf_iterator<char>(file), {});
    Elf64_Ehdr head;
    std::memcpy(&head, image.data(), sizeof head);
    for (int i = 0; i < head.e_phnum; ++i) {
      Elf64_Phdr part;
      std::memcpy(&part, image.data() + head.e_phoff + i * sizeof part, sizeof part);
      const auto* const at = reinterpret_cast<const uint8_t*>(image.data()) + part.p_offset;
      if (part.p_type != PT_LOAD) continue;
      if ((part.p_flags & PF_X) != 0) input.code = {kAt + part.p_vaddr, {at, part.p_filesz}};
      else input.data.push_back({kAt + part.p_vaddr, {at, part.p_filesz}});
    }
    const Range all{input.code.address, input.code.address + input.code.bytes.size()};
    // Functions of all sizes, some of which begin in the middle of an instruction.
    for (uint64_t at = all.start; at + 0x400 < all.end; at += 0x40 + at % 0x3c0)
      input.functions.push_back({at, at + 0x20 + at % 0x380});
  }
  std::string image;
  CodeInput input;
};

std::string all_known(const Code& code) {
  std::string out;
  for (uint64_t at = code.range().start; at < code.range().end; ++at)
    out += static_cast<char>('a' + code.starts(at) + 2 * code.entered(at) + 4 * code.padding(at) +
                             8 * code.kept(at));
  return out;
}

TEST(Code, ASweepOfBeforeTellsTheSame) {
  OwnCode own;
  const Code first(own.input);
  ASSERT_EQ(first.unknown(), nullptr);
  ASSERT_GT(own.input.code.bytes.size(), 100'000u);
  own.input.known = first.known();
  const Code second(own.input);
  EXPECT_EQ(second.known().sweep, first.known().sweep);
  EXPECT_TRUE(all_known(first) == all_known(second));
  // What the data says is looked at again: here, an address of code that nobody knew of.
  uint64_t place = first.range().start;
  while (!first.starts(place) || first.entered(place)) ++place;
  std::vector<uint8_t> word(8);
  store_uint(word.data(), place, 8, Endian::Little);
  own.input.data.push_back({kAt - 0x1000, word});
  EXPECT_TRUE(Code(own.input).entered(place));
  EXPECT_FALSE(second.entered(place));
}

TEST(Code, PaddingOfBeforeHoldsWhereItFollowsFromTheSame) {
  OwnCode own;
  const Code first(own.input);
  ASSERT_NE(first.known().padding, nullptr);
  own.input.known = first.known();
  EXPECT_EQ(Code(own.input).known().padding, first.known().padding);
  // The data names the second of some bytes of padding: from there on, it is none.
  uint64_t place = first.range().start;
  while (!first.padding(place) || !first.padding(place + 1)) ++place;
  std::vector<uint8_t> word(8);
  store_uint(word.data(), place + 1, 8, Endian::Little);
  own.input.data.push_back({kAt - 0x1000, word});
  const Code other(own.input);
  EXPECT_NE(other.known().padding, first.known().padding);
  own.input.known = {};
  EXPECT_TRUE(all_known(other) == all_known(Code(own.input)));
  EXPECT_FALSE(all_known(other) == all_known(first));
}

TEST(Code, ASweepOfOtherCodeTellsNothing) {
  std::vector<uint8_t> bytes{0x90, 0x90, 0xc3};
  CodeInput input;
  input.code = {kAt, bytes};
  input.functions = {{kAt, kAt + 3}};
  const auto known = Code(input).known();
  ASSERT_NE(known.sweep, nullptr);
  input.known = known;
  EXPECT_EQ(Code(input).known().sweep, known.sweep);
  bytes[0] = 0x55;
  EXPECT_NE(Code(input).known().sweep, known.sweep);
  bytes[0] = 0x90;
  input.code.address = kAt + 0x1000;
  EXPECT_NE(Code(input).known().sweep, known.sweep);
  input.code.address = kAt;
  input.functions = {{kAt, kAt + 2}};
  EXPECT_NE(Code(input).known().sweep, known.sweep);
  input.functions = {{kAt, kAt + 3}};
  EXPECT_EQ(Code(input).known().sweep, known.sweep);
}

}  // namespace
}  // namespace tracewell::pads
