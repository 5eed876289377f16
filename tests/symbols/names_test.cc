#include "symbols/names.h"

#include <cxxabi.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "symbols/elf_builder.h"
#include "symbols/names/demangle.h"

namespace tracewell::symbols {

constexpr uint32_t kFunctionLine = __LINE__ + 1;
__attribute__((noinline)) int function_of_this_test(int x) { return x * 9 + 4; }
int object_of_this_test[4] = {1, 2, 3, 4};

namespace {

struct TestSymbol {
  std::string_view name;
  uint64_t address = 0;
  uint64_t size = 0;
  unsigned type = STT_FUNC;
  unsigned binding = STB_GLOBAL;
  uint16_t section = 1;
};

/// Code at 0x1000 to 0x1100, data at 0x3000 to 0x3040, and these symbols.
struct Program {
  TestElf elf;
  std::vector<TestSymbol> symbols;
  uint32_t table = SHT_SYMTAB;

  Program() {
    elf.segments = {{0, 0x400, PF_R, 0}, {0x1000, 0x100, PF_R | PF_X, 0x90},
                    {0x3000, 0x40, PF_R | PF_W, 0x33}};
  }
  void put_sections() {
    std::vector<uint8_t> texts = {0};
    std::vector<uint8_t> entries;
    ByteWriter out(entries, elf.endian);
    const auto put = [&](const TestSymbol& one) {
      const auto what = [&] {
        out.uint(ELF64_ST_INFO(one.binding, one.type), 1);
        out.uint(0, 1);
        out.uint(one.section, 2);
      };
      out.uint(one.name.empty() ? 0 : texts.size(), 4);
      if (elf.is_64) what();
      out.uint(one.address, elf.is_64 ? 8 : 4);
      out.uint(one.size, elf.is_64 ? 8 : 4);
      if (!elf.is_64) what();
      texts.insert(texts.end(), one.name.begin(), one.name.end());
      texts.push_back(0);
    };
    put({"", 0, 0, 0, 0, 0});
    for (const TestSymbol& one : symbols) put(one);
    elf.sections = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, std::vector<uint8_t>(0x100)},
        {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x3000, std::vector<uint8_t>(0x40)},
        {".symtab", table, 0, 0, entries, 4, elf.is_64 ? uint64_t{24} : 16},
        {".strtab", SHT_STRTAB, 0, 0, texts}};
  }
  std::shared_ptr<const Names> names() {
    if (elf.sections.empty()) put_sections();
    auto owner = shared_bytes(elf.build());
    auto image = Image::parse(*owner, owner, "test");
    EXPECT_TRUE(image) << image.error().text();
    return image ? Names::read(*image, "") : nullptr;
  }
};

std::string text_of(const std::optional<SymbolPlace>& place) {
  return place ? fmt::format("{}+{}", place->name, place->offset) : "";
}
std::string function(const Names& names, uint64_t address) {
  return text_of(names.function_at(address));
}
std::string object(const Names& names, uint64_t address) {
  return text_of(names.object_at(address));
}

TEST(Names, FunctionsAndObjects) {
  for (const bool is_64 : {true, false}) {
    for (const Endian endian : {Endian::Little, Endian::Big}) {
      Program program;
      program.elf.is_64 = is_64;
      program.elf.endian = endian;
      program.symbols = {{"match", 0x1010, 0x20},
                         {"choose", 0x1040, 8, STT_GNU_IFUNC},
                         {"total", 0x3000, 8, STT_OBJECT, STB_GLOBAL, 2},
                         {"table", 0x3010, 0x10, STT_OBJECT, STB_LOCAL, 2}};
      const auto names = program.names();
      EXPECT_EQ(function(*names, 0x100f), "");
      EXPECT_EQ(function(*names, 0x1010), "match+0");
      EXPECT_EQ(function(*names, 0x102f), "match+31");
      EXPECT_EQ(function(*names, 0x1030), "");
      EXPECT_EQ(function(*names, 0x1041), "choose+1");
      EXPECT_EQ(function(*names, 0x3000), "");
      EXPECT_EQ(object(*names, 0x3000), "total+0");
      EXPECT_EQ(object(*names, 0x3008), "");
      EXPECT_EQ(object(*names, 0x301f), "table+15");
      EXPECT_EQ(object(*names, 0x1010), "");
      EXPECT_FALSE(names->line_at(0x1010));
    }
  }
}

TEST(Names, GlobalThenLocalThenWeak) {
  Program program;
  program.symbols = {{"weak", 0x1000, 16, STT_FUNC, STB_WEAK},
                     {"local", 0x1000, 8, STT_FUNC, STB_LOCAL},
                     {"other", 0x1000, 4, STT_FUNC, STB_LOCAL},
                     {"global", 0x1000, 4},
                     {"second", 0x1000, 4},
                     {"inner", 0x1020, 4},
                     {"outer", 0x1018, 0x20}};
  const auto names = program.names();
  EXPECT_EQ(function(*names, 0x1003), "global+3");
  EXPECT_EQ(function(*names, 0x1004), "local+4");
  EXPECT_EQ(function(*names, 0x1008), "weak+8");
  EXPECT_EQ(function(*names, 0x1018), "outer+0");
  EXPECT_EQ(function(*names, 0x1023), "inner+3");
  EXPECT_EQ(function(*names, 0x1024), "outer+12");
}

TEST(Names, ASymbolWithoutSizeReachesToTheNext) {
  Program program;
  program.symbols = {{"start", 0x1000}, {"sized", 0x1040, 4}, {"last", 0x10f0},
                     {"open", 0x3020, 0, STT_OBJECT, STB_GLOBAL, 2}};
  const auto names = program.names();
  EXPECT_EQ(function(*names, 0x103f), "start+63");
  EXPECT_EQ(function(*names, 0x1044), "");
  EXPECT_EQ(function(*names, 0x10ff), "last+15");
  EXPECT_EQ(function(*names, 0x1100), "");
  EXPECT_EQ(object(*names, 0x303f), "open+31");
  EXPECT_EQ(object(*names, 0x3040), "");
}

TEST(Names, LabelsInCodeAreTheLastResort) {
  Program program;
  program.symbols = {{"label", 0x1000, 0, STT_NOTYPE}, {"function", 0x1010, 0x10},
                     {"inside", 0x1018, 0, STT_NOTYPE}, {"$x", 0x1004, 0, STT_NOTYPE},
                     {"mark", 0x3000, 0, STT_NOTYPE, STB_GLOBAL, 2}};
  const auto names = program.names();
  EXPECT_EQ(function(*names, 0x1008), "label+8");
  EXPECT_EQ(function(*names, 0x1018), "function+8");
  EXPECT_EQ(object(*names, 0x3000), "");
}

TEST(Names, WhatIsNoPlaceIsLeftOut) {
  Program program;
  program.symbols = {{"undefined", 0x1000, 8, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
                     {"number", 0x1010, 8, STT_FUNC, STB_GLOBAL, SHN_ABS},
                     {"thread", 0x3000, 8, STT_TLS, STB_GLOBAL, 2},
                     {"descriptor", 0x3008, 8, STT_FUNC, STB_GLOBAL, 2},
                     {"", 0x1020, 8},
                     {"nowhere", 0x2000, 8}};
  const auto names = program.names();
  for (uint64_t address = 0xff0; address < 0x3040; ++address) {
    ASSERT_EQ(function(*names, address), "");
    ASSERT_EQ(object(*names, address), "");
  }
}

TEST(Names, ThumbAndVersions) {
  Program program;
  program.elf.is_64 = false;
  program.elf.machine = EM_ARM;
  program.symbols = {{"thumb", 0x1001, 4}, {"stdout@@GLIBC_2.2.5", 0x3000, 8, STT_OBJECT}};
  const auto names = program.names();
  EXPECT_EQ(function(*names, 0x1000), "thumb+0");
  EXPECT_EQ(object(*names, 0x3000), "stdout+0");
}

TEST(Names, WithoutASymbolTableTheDynamicOne) {
  Program program;
  program.symbols = {{"exported", 0x1000, 8}};
  program.table = SHT_DYNSYM;
  EXPECT_EQ(function(*program.names(), 0x1001), "exported+1");
}

TEST(Names, HostileTables) {
  Program sound;
  sound.symbols = {{"huge", 0x1000, UINT64_MAX}, {"match", 0x1010, 4}};
  sound.put_sections();
  EXPECT_EQ(function(*sound.names(), 0x10ff), "huge+255");
  EXPECT_EQ(function(*sound.names(), 0x1100), "");

  Program entry = sound;
  for (uint64_t size : {0, 1, 23, 25, 48}) {
    entry.elf.sections[2].entry_bytes = size;
    EXPECT_EQ(function(*entry.names(), 0x1010), "") << size;
  }
  Program beyond = sound;
  for (uint64_t size : {uint64_t{0x100000}, UINT64_MAX, UINT64_MAX - 1}) {
    beyond.elf.sections[2].size = size;
    EXPECT_EQ(function(*beyond.names(), 0x1010), "");
  }
  Program link = sound;
  for (uint32_t number : {0u, 1u, 3u, 6u, UINT32_MAX}) {
    link.elf.sections[2].link = number;
    EXPECT_EQ(function(*link.names(), 0x1010), "");
  }
  Program outside = sound;  // the second name begins behind the table
  outside.elf.sections[3].bytes.resize(7);
  EXPECT_EQ(function(*outside.names(), 0x1010), "huge+16");
  Program open_end = sound;  // it has no end
  open_end.elf.sections[3].bytes.resize(10);
  EXPECT_EQ(function(*open_end.names(), 0x1010), "");
  Program wraps = sound;
  wraps.elf.sections[0].size = UINT64_MAX - 0x800;
  EXPECT_EQ(function(*wraps.names(), 0x1010), "match+0");
}

// Many that lie inside of each other, or at one place, cost no more than others.
TEST(Names, ManyOverlappingSymbols) {
  Program program;
  for (uint64_t i = 0; i < 100000; ++i) program.symbols.push_back({"same", 0x1000 + i % 64, 0xc0});
  const auto names = program.names();
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(names->function_at(0x10fe)->offset, 0xbfu);
}

TEST(Names, DamagedFilesAreSurvived) {
  Program program;
  program.symbols = {{"match", 0x1010, 0x20}, {"_ZN4book5matchEi", 0x1040, 8},
                     {"total", 0x3000, 8, STT_OBJECT, STB_GLOBAL, 2}};
  program.put_sections();
  const std::vector<uint8_t> sound = program.elf.build();
  std::mt19937 random(7);
  int named = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<uint8_t> bytes = sound;
    // What matters stands in the first header and, behind the segments, in the last bytes.
    for (int i = 1 + static_cast<int>(random() % 4); i > 0; --i)
      bytes[random() % 16 == 0 ? random() % 64 : bytes.size() - 1 - random() % 0x300] =
          static_cast<uint8_t>(random());
    auto owner = shared_bytes(std::move(bytes));
    const auto image = Image::parse(*owner, owner, "test");
    if (!image) continue;
    const auto names = Names::read(*image, "");
    for (const uint64_t address : {0x1010, 0x1040, 0x3000})
      named += names->function_at(address) || names->object_at(address);
  }
  EXPECT_GT(named, 1000);
}

TEST(Demangle, CppNames) {
  EXPECT_EQ(demangled("_ZN4book5matchEi"), "book::match(int)");
  EXPECT_EQ(demangled("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(demangled("_ZN12_GLOBAL__N_17XStatusC1EA3_3src.isra.0.cold"),
            "(anonymous namespace)::XStatus::XStatus(src [3]) [clone .isra.0.cold]");
  EXPECT_EQ(demangled("main"), "main");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangled(""), "");
  EXPECT_EQ(demangled("_Z"), "_Z");
}

// The runtime's demangler gets these in another form, because of what their identifiers look like.
TEST(Demangle, AgreesWithTheRuntime) {
  for (const char* name : {
           "_ZN10XStatusSrc6AddAllERKNS_2DTE",
           "_ZZN4book5AddToEvENKUlvE12_clEv",
           "_ZZN3App3runEiENUt1_C2ERKS0_",
           "_ZN3App6chooseILNS_5ColorE2ELm31051ELb1EEEvRA8_NS_5EventE",
           "_ZL8AddEventPFv5EventE",
           "_ZThn16_N3App3runEv",
           "_ZTVN3AppE",
           "_ZN3AppB5cxx11C2ESaIcES_",
           "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_Alloc_hiderC1EPcRKS3_",
       }) {
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    ASSERT_EQ(status, 0) << name;
    EXPECT_EQ(demangled(name), text);
    free(text);
  }
}

// These take the demangler gigabytes, or for ever.
TEST(Demangle, HostileNames) {
  std::string doubles = "_Z1f1PIiiE";
  std::string index = "0";
  for (int i = 0; i < 60; ++i) {
    doubles += "S_IS" + index + "_S" + index + "_E";
    index = fmt::format("{}{}", i < 35 ? "" : "1", "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0"[i % 36]);
  }
  EXPECT_EQ(demangled(doubles), doubles);
  std::string hidden = "_Z1f1PIiiE";  // behind numbers that look like lengths
  for (int i = 0; i < 60; ++i) hidden += "S_IA9_S1_A9_S1_E";
  EXPECT_EQ(demangled(hidden), hidden);
  const std::string endless = "_ZptDOptsrptD";
  EXPECT_EQ(demangled(endless), endless);
  const std::string is_long = "_Z" + std::to_string(5000) + std::string(5000, 'a') + "v";
  EXPECT_EQ(demangled(is_long), is_long);
  const std::string packs = "_Z1fIJ" + std::string(2000, 'i') + "EEvDp1AIDpT_E";
  EXPECT_EQ(demangled(packs), packs);
}

/// Each back reference doubles it: few letters, and harmless, but megabytes of text.
std::string unfolding_name(int doublings, const std::string& end) {
  std::string name = "880" + std::string(880, 'x');
  std::string last = "_";
  for (int i = 0; i < doublings; ++i) {
    name = "PFv" + name + "S" + last + "E";
    last = std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[2 * i + 1]) + "_";
  }
  return "_Z1f" + name + end;
}

TEST(Demangle, NamesThatUnfoldToFarTooMuchStayAsTheyAre) {
  const std::string some = unfolding_name(4, "");
  EXPECT_GT(demangled(some).size(), 10 * some.size());
  EXPECT_LT(demangled(some).size(), kWrittenMax);
  const std::string much = unfolding_name(12, "");
  EXPECT_EQ(demangled(much), much);
}

// An image of any number of such names costs what its size allows, and no more.
TEST(Demangle, AnImageHasSoMuchText) {
  Demangler demangler(1000);
  int unfolded = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = unfolding_name(12, "A" + std::to_string(i + 1) + "_i");
    EXPECT_EQ(demangler.written(name), name);
    unfolded += demangler.over() ? 0 : 1;
  }
  EXPECT_LT(unfolded, 10);
  EXPECT_TRUE(demangler.over());
  EXPECT_EQ(demangler.written("_ZN4book5matchEi"), "_ZN4book5matchEi");
  // One name alone is unfolded once; others cost nothing.
  Demangler again(1000);
  for (int i = 0; i < 1000; ++i) again.written(unfolding_name(12, ""));
  for (int i = 0; i < 100000; ++i) again.written_once("_ZN4book5matchEi");
  EXPECT_FALSE(again.over());
  EXPECT_EQ(again.written("_ZN4book5matchEi"), "book::match(int)");
  EXPECT_EQ(again.written("match"), "match");
  // Nobody waits any more.
  Demangler stopped(1000, [] { return true; });
  for (int i = 0; i < 10; ++i) stopped.written_once(unfolding_name(12, ""));
  EXPECT_TRUE(stopped.over());
}

/// How many of these does it unfold for an image of 1000 bytes?
int unfolded_of(int most, const std::function<std::string(int)>& name) {
  Demangler demangler(1000);
  int unfolded = 0;
  for (int i = 0; i < most; ++i) {
    const std::string one = name(i);
    EXPECT_EQ(demangler.written_once(one), one);
    unfolded += demangler.over() ? 0 : 1;
  }
  return unfolded;
}

// What turns out to be no name has cost as much.
TEST(Demangle, NoNamesAreCountedToo) {
  const auto goes_back = [](int i) {  // at each T_, and parses all behind it a second time
    std::string name = "_ZN1AA" + std::to_string(i + 1) + "_1BcvT_", end = "IiE";
    for (int depth = 0; depth < 14; ++depth) {
      name += "IT_";
      end += 'E';
    }
    return name + end + "Ev";
  };
  EXPECT_LT(unfolded_of(1000, goes_back), 20);
  const auto ends_odd = [](int i) {  // behind megabytes of text: there is no such parameter
    return unfolding_name(10, "A" + std::to_string(i + 1) + "_iT_");
  };
  EXPECT_LT(unfolded_of(1000, ends_odd), 20);
  // Those that cost little stay free.
  EXPECT_EQ(unfolded_of(10000, [](int i) { return "_Zno" + std::to_string(i); }), 10000);
}

uint64_t thread_nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// Each S may begin a reference that has all others in its number.
TEST(Demangle, LooksAtEachLetterOnce) {
  const auto time_of = [](char letter) {
    const std::string name = "_Z" + std::string(4000, letter);
    const uint64_t begin = thread_nanoseconds();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(demangled(name), name);
    return thread_nanoseconds() - begin;
  };
  EXPECT_LT(time_of('S'), 20 * time_of('q'));
  // A number of any length is one: leading zeros.
  std::string zeros = "_Z1f1PIiiE";
  for (int i = 0; i < 60; ++i) zeros += "S0000000000_";
  EXPECT_EQ(demangled(zeros), zeros);
}

/// Where this program was loaded.
uint64_t own_bias() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &bias);
  return bias;
}

/// As in the mapped file of somebody who writes to it. What was looked at is what is demangled:
/// otherwise the demangler gets a name now and then that takes it for ever.
TEST(Demangle, NamesThatChangeMeanwhile) {
  std::string start = "_ZN", quick = "cv", endless = "cv";
  for (int i = 0; i < 200; ++i) start += "1a";
  for (int i = 0; i < 40; ++i) quick += "iiiiiiii", endless += "T_IcvT_I";
  const std::string whole = start + quick;
  void* const at = ::mmap(nullptr, whole.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                          -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  char* const shared = static_cast<char*>(at);
  std::ranges::copy(whole, shared);
  const pid_t writer = ::fork();
  if (writer == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      for (const std::string* text : {&endless, &quick})
        for (size_t i = 0; i < text->size(); ++i)
          std::atomic_ref(shared[start.size() + i]).store((*text)[i], std::memory_order_relaxed);
  }
  const std::string_view name(shared, whole.size());
  Demangler demangler(uint64_t{1} << 30);
  for (int i = 0; i < 20000; ++i) {
    EXPECT_LE(demangled(name).size(), kWrittenMax);
    EXPECT_LE(demangler.written_once(name).size(), kWrittenMax);
  }
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  ::munmap(at, whole.size());
}

TEST(Names, OfThisTestItself) {
  auto image = Image::open("/proc/self/exe");
  ASSERT_TRUE(image);
  const auto names = Names::read(*image);
  const uint64_t code = reinterpret_cast<uint64_t>(&function_of_this_test) - own_bias();
  EXPECT_EQ(function(*names, code), "tracewell::symbols::function_of_this_test(int)+0");
  EXPECT_EQ(function(*names, code + 3), "tracewell::symbols::function_of_this_test(int)+3");
  const uint64_t data = reinterpret_cast<uint64_t>(&object_of_this_test[1]) - own_bias();
  EXPECT_EQ(object(*names, data), "tracewell::symbols::object_of_this_test+4");
  const auto line = names->line_at(code);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "names_test.cc");
  EXPECT_EQ(line->line, kFunctionLine);
}

// What a stripped program lacks comes from the debug file with its build-id, and from no other.
TEST(Names, SeparateDebugFiles) {
  namespace fs = std::filesystem;
  const std::string whole = TRACEWELL_INFERIORS_DIR "/hit_storm";
  std::string pattern = fs::temp_directory_path() / "names-test.XXXXXX";
  const fs::path work = mkdtemp(pattern.data());
  const auto run = [](const std::string& command) { EXPECT_EQ(system(command.c_str()), 0); };
  run("strip -o '" + (work / "stripped").string() + "' '" + whole + "'");
  const auto image = Image::open(work / "stripped");
  const auto full = Image::open(whole);
  ASSERT_TRUE(image && full);
  const std::string id = (*image)->facts().build_id;
  ASSERT_GE(id.size(), 4u);
  const fs::path debug = work / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug");
  fs::create_directories(debug.parent_path());

  uint64_t inner = 0;
  const auto whole_names = Names::read(*full, "");
  for (uint64_t at = 0x1000; at < 0x3000 && inner == 0; ++at)
    if (function(*whole_names, at) == "inner+0") inner = at;
  ASSERT_NE(inner, 0u);

  EXPECT_EQ(function(*Names::read(*image, work), inner), "");
  run("objcopy --only-keep-debug --compress-debug-sections '" + whole + "' '" + debug.string() +
      "'");
  const auto names = Names::read(*image, work);
  EXPECT_EQ(function(*names, inner), "inner+0");
  const auto line = names->line_at(inner);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "hit_storm.c");
  EXPECT_EQ(line->line, whole_names->line_at(inner)->line);
  EXPECT_EQ(function(*Names::read(*image, ""), inner), "");

  fs::copy_file(TRACEWELL_INFERIORS_DIR "/debuggee", debug, fs::copy_options::overwrite_existing);
  EXPECT_EQ(function(*Names::read(*image, work), inner), "");
  fs::remove_all(work);
}

}  // namespace
}  // namespace tracewell::symbols
