#include "symbols/image.h"

#include <libelf.h>
#include <link.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/elf/elf_file.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf_builder.h"

namespace tracewell::symbols {
namespace {

Result<std::shared_ptr<const Image>> parse(std::vector<uint8_t> bytes) {
  auto owner = shared_bytes(std::move(bytes));
  return Image::parse(*owner, owner, "test");
}

__attribute__((noinline)) int a_function_of_this_test(int x) { return x * 7 + 5; }

TestElf small_pie() {
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R, 0x11}, {0x1000, 0x80, PF_R | PF_X, 0x22},
                  {0x3000, 0x40, PF_R | PF_W, 0x33}};
  elf.interpreter = "/lib64/ld-linux-x86-64.so.2";
  elf.build_id = {0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4};
  return elf;
}

/// It has no end: what its first bytes say is enough.
TEST(Image, ADeviceWithoutEndIsNone) {
  const auto image = Image::open("/dev/zero");
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code, Errc::Unsupported) << image.error().text();
}

TEST(Image, PieFacts) {
  auto image = parse(small_pie().build());
  ASSERT_TRUE(image) << image.error().text();
  const ImageFacts& facts = (*image)->facts();
  EXPECT_EQ(facts.address_bytes, 8u);
  EXPECT_EQ(facts.machine, EM_X86_64);
  EXPECT_TRUE(facts.relocatable);
  EXPECT_TRUE(facts.program);
  EXPECT_EQ(facts.entry, 0x1010u);
  EXPECT_EQ(facts.link_base, 0u);
  EXPECT_EQ(facts.span_bytes, 0x3040u);
  EXPECT_EQ(facts.program_headers, 64u);
  EXPECT_EQ(facts.program_header_bytes, 56u);
  EXPECT_EQ(facts.program_header_count, 5u);
  EXPECT_EQ(facts.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(facts.build_id, "deadbeef01020304");
}

TEST(Image, ReadsOnlyWhatNobodyWritesTo) {
  auto image = parse(small_pie().build());
  ASSERT_TRUE(image);
  std::vector<uint8_t> into(0x100);
  EXPECT_EQ((*image)->read(0x1000, into), 0x80u);
  EXPECT_EQ(into[0x7f], 0x22);
  EXPECT_EQ((*image)->read(0x107f, into), 1u);
  EXPECT_EQ((*image)->read(0x1080, into), 0u);
  EXPECT_EQ((*image)->read(0x3000, into), 0u);
  EXPECT_EQ((*image)->read(UINT64_MAX, into), 0u);
  EXPECT_TRUE((*image)->covers(0x1000, 0x80));
  EXPECT_FALSE((*image)->covers(0x1000, 0x81));
  EXPECT_FALSE((*image)->covers(0xfff, 2));
  EXPECT_FALSE((*image)->covers(0x1000, UINT64_MAX));
  EXPECT_FALSE((*image)->covers(0x3000, 1));
}

TEST(Image, TouchingRangesReadAsOne) {
  TestElf elf;
  elf.segments = {{0, 0x1000, PF_R, 1}, {0x1000, 0x100, PF_R | PF_X, 2}};
  auto image = parse(elf.build());
  ASSERT_TRUE(image);
  std::vector<uint8_t> into(16);
  EXPECT_EQ((*image)->read(0xff8, into), 16u);
  EXPECT_EQ(into[7], 1);
  EXPECT_EQ(into[8], 2);
  EXPECT_TRUE((*image)->covers(0xff8, 16));
}

TEST(Image, BigEndian32Bit) {
  TestElf elf;
  elf.is_64 = false;
  elf.endian = Endian::Big;
  elf.type = ET_EXEC;
  elf.machine = EM_PPC;
  elf.entry = 0x10000100;
  elf.segments = {{0x10000000, 0x200, PF_R | PF_X, 0x60}};
  auto image = parse(elf.build());
  ASSERT_TRUE(image) << image.error().text();
  const ImageFacts& facts = (*image)->facts();
  EXPECT_EQ(facts.endian, Endian::Big);
  EXPECT_EQ(facts.address_bytes, 4u);
  EXPECT_EQ(facts.machine, EM_PPC);
  EXPECT_FALSE(facts.relocatable);
  EXPECT_TRUE(facts.program);
  EXPECT_EQ(facts.link_base, 0x10000000u);
  EXPECT_EQ(facts.program_headers, 0x10000034u);
  uint8_t byte = 0;
  EXPECT_EQ((*image)->read(0x100001ff, {&byte, 1}), 1u);
  EXPECT_EQ(byte, 0x60);
}

TEST(Image, ALibraryIsNoProgramAndAStaticPieIs) {
  TestElf elf = small_pie();
  elf.interpreter = "";
  auto library = parse(elf.build());
  ASSERT_TRUE(library);
  EXPECT_FALSE((*library)->facts().program);
  elf.dynamic_flags_1 = DF_1_PIE;
  auto program = parse(elf.build());
  ASSERT_TRUE(program);
  EXPECT_TRUE((*program)->facts().program);
  EXPECT_TRUE((*program)->facts().dynamic);

  TestElf libc = small_pie();
  libc.soname = true;
  auto runnable_library = parse(libc.build());
  ASSERT_TRUE(runnable_library);
  EXPECT_FALSE((*runnable_library)->facts().program);
}

TEST(Image, OpensThisTestItself) {
  auto image = Image::open("/proc/self/exe");
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_TRUE((*image)->facts().program);
  EXPECT_FALSE((*image)->read_only().empty());
  // What the file says of our own code is what the loader put into memory.
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &bias);
  const auto* code = reinterpret_cast<const uint8_t*>(&a_function_of_this_test);
  std::vector<uint8_t> bytes(16);
  ASSERT_EQ((*image)->read(reinterpret_cast<uint64_t>(code) - bias, bytes), 16u);
  EXPECT_EQ(std::memcmp(bytes.data(), code, 16), 0);
}

// Where numbers do not fit the ELF header, section 0 has them; what libelf says of such a file.
TEST(Image, NumbersInSectionZeroAreThoseThatLibelfSees) {
  TestElf elf = small_pie();
  elf.sections = {{".rodata", SHT_PROGBITS, SHF_ALLOC, 0x9000, {1, 2, 3, 4}}};
  std::vector<uint8_t> bytes = elf.build();
  Elf64_Ehdr head;
  std::memcpy(&head, bytes.data(), sizeof head);
  Elf64_Shdr zero = {};
  zero.sh_size = head.e_shnum;
  zero.sh_info = head.e_phnum;
  zero.sh_link = head.e_shstrndx;
  std::memcpy(bytes.data() + head.e_shoff, &zero, sizeof zero);
  head.e_phnum = PN_XNUM;
  head.e_shnum = 0;
  head.e_shstrndx = SHN_XINDEX;
  std::memcpy(bytes.data(), &head, sizeof head);
  elf_version(EV_CURRENT);
  std::vector<uint8_t> copy = bytes;
  ::Elf* const peer = elf_memory(reinterpret_cast<char*>(copy.data()), copy.size());
  size_t segments = 0, sections = 0, names = 0;
  ASSERT_EQ(elf_getphdrnum(peer, &segments), 0);
  ASSERT_EQ(elf_getshdrnum(peer, &sections), 0);
  ASSERT_EQ(elf_getshdrstrndx(peer, &names), 0);
  elf_end(peer);
  const auto headers = ElfHeaders::read(bytes);
  ASSERT_TRUE(headers) << headers.error().text();
  EXPECT_EQ(headers->segments(), segments);
  EXPECT_EQ(headers->sections(), sections);
  EXPECT_EQ(headers->names_section(), names);
  EXPECT_TRUE((*parse(bytes))->covers(0x9000, 4));
  EXPECT_NE(ElfFile(bytes).find(".rodata"), nullptr);
  bytes.resize(bytes.size() - 1);  // the last section header is cut
  ASSERT_TRUE(parse(bytes).ok()) << "segments are all that is needed";
  const auto cut = ElfHeaders::read(bytes);
  ASSERT_TRUE(cut) << cut.error().text();
  EXPECT_EQ(cut->segments(), segments);
  EXPECT_EQ(cut->sections(), 0u);
  EXPECT_EQ(ElfFile(bytes).find(".rodata"), nullptr);
}

TEST(Image, SaysWhatIsWrong) {
  EXPECT_EQ(parse({}).error().code, Errc::Unsupported);
  EXPECT_EQ(parse({'#', '!', '/', 'b', 'i', 'n'}).error().code, Errc::Unsupported);
  EXPECT_EQ(Image::open("/nonexistent/file").error().code, Errc::Io);
  EXPECT_EQ(Image::open("/").error().code, Errc::Io);

  TestElf none = small_pie();
  none.segments.clear();
  EXPECT_EQ(parse(none.build()).error().code, Errc::Corrupt);

  TestElf object = small_pie();
  object.type = ET_REL;
  EXPECT_EQ(parse(object.build()).error().code, Errc::Unsupported);

  std::vector<uint8_t> cut = small_pie().build();
  cut.resize(cut.size() - 0x20);
  EXPECT_EQ(parse(cut).error().code, Errc::Corrupt);
}

TEST(Image, ASegmentMayNotWrapTheAddressSpace) {
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R, 1}, {UINT64_MAX - 0xff, 0x1000, PF_R, 2}};
  elf.segments[1].address = 0xfffffffffffff000;
  elf.segments[1].size = 0x2000;
  EXPECT_EQ(parse(elf.build()).error().code, Errc::Corrupt);
}

// Whatever the bytes are, the answer is an image whose ranges are sane, or an error.
TEST(Image, DamagedFilesAreSurvived) {
  std::mt19937 random(42);
  const std::vector<uint8_t> sound = small_pie().build();
  int opened = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = sound;
    const int changes = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < changes; ++i) bytes[random() % 0x200] = static_cast<uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    auto owner = shared_bytes(std::move(bytes));
    auto image = Image::parse(*owner, owner, "test");
    if (!image) continue;
    ++opened;
    uint64_t last = 0;
    for (const ImageRange& range : (*image)->read_only()) {
      ASSERT_GE(range.address, last);
      ASSERT_GE(range.end(), range.address);
      ASSERT_GE(range.bytes.data(), owner->data());
      ASSERT_LE(range.bytes.data() + range.bytes.size(), owner->data() + owner->size());
      last = range.end();
    }
  }
  EXPECT_GT(opened, 100);
}

}  // namespace
}  // namespace tracewell::symbols
