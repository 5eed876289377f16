// What a program of another user may lie about: descriptors that it shares with us, the files of
// its libraries, and their names. Root runs it as that user.
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/files/open.h"
#include "target/linux/images/mapped_files.h"
#include "target/users.h"

namespace tracewell::target {
namespace {

namespace fs = std::filesystem;

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_of(const Result<UniqueFd>& fd) {
  if (!fd.ok()) return "error: " + fd.error().text();
  char text[64];
  const ssize_t got = ::pread(fd->get(), text, sizeof text, 0);
  return {text, static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

/// A file that the program's user may read, and not write.
class Swapping : public testing::Test {
 protected:
  /// Shares memory until the other process has put its file in place, and says what came of that.
  void share(const std::string& access, const std::string& when) {
    const std::string file = folder_.write("file", "not for you", 0644);
    if (is_root() && access == "write") {
      ASSERT_EQ(::chown(file.c_str(), kOtherUser, kOtherUser), 0);
    }
    const OtherProgram program({folder_.take("swaps"), file, access, when});
    ASSERT_EQ(program.said(), "ready");
    {
      Debuggee one;
      one.attach(program.pid());
      const auto shared = one.target->trace_sites()->fast()->share(one.pid, kBytes, {});
      ASSERT_FALSE(shared.ok());
      EXPECT_NE(shared.error().message.find("shares its descriptors"), std::string::npos);
    }
    Debuggee one(LinuxOptions{.alone_with_descriptors = false});
    one.attach(program.pid());
    FastSites& fast = *one.target->trace_sites()->fast();
    bool refused = false;
    std::set<uint64_t> places;
    // The other process needs a processor in the right moment.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int turn = 0; !refused && std::chrono::steady_clock::now() < end; ++turn) {
      const auto shared = fast.share(one.pid, kBytes, {});
      ASSERT_EQ(fs::file_size(file), std::string("not for you").size()) << "turn " << turn;
      if (shared.ok()) {
        EXPECT_EQ(shared->address % 4096, 0u);
        EXPECT_TRUE(places.insert(shared->address).second) << "at the same place again";
        shared->bytes[0] = 77;
        ASSERT_EQ(one.read<uint8_t>(shared->address), 77) << "not shared";
        fast.release(one.pid);
        static_cast<void>(fast.processor(one.pid));  // gives back what is unwanted
        continue;
      }
      refused = true;
      EXPECT_EQ(shared.error().code, Errc::Unsupported) << shared.error().text();
      EXPECT_NE(shared.error().message.find("changes its descriptors"), std::string::npos);
    }
    EXPECT_TRUE(refused) << "nothing was ever put in place";
    EXPECT_EQ(bytes_of(file), bytes_of(folder_.write("same", "not for you", 0644)));
  }

  static constexpr uint64_t kBytes = 1 << 20;
  OpenFolder folder_;
};

TEST_F(Swapping, AFileInPlaceOfTheMemoryKeepsItsSize) { share("read", "new"); }
TEST_F(Swapping, AFileOfTheUsersOwnDoesToo) { share("write", "new"); }
TEST_F(Swapping, WhatIsMappedIsComparedWithWhatWeHave) { share("write", "sized"); }

TEST(LinuxFiles, LibrariesBehindTheirUsersLinksAreFound) {
  OpenFolder folder;
  folder.take("debuggee");
  folder.take("libdaily.so");
  folder.link("libdaily.so", "linked.so");
  const OtherProgram program({folder.take("liar"), "names", folder.at("debuggee")},
                             {"LD_PRELOAD=" + folder.at("linked.so")});
  ASSERT_EQ(program.said(), "lied");
  // What is behind the name now is nothing that the program could read.
  folder.write("secret", "secret");
  folder.link("secret", "linked.so");
  Debuggee one;
  one.attach(program.pid());
  ProcessFacts& facts = *one.target->facts();
  const std::vector<Module> modules = *facts.modules(one.pid);
  const auto files = facts.module_files(one.pid);
  ASSERT_NE(files, nullptr);
  const auto expect = [&](size_t number, const std::string& file) {
    const auto bytes = files->read(modules[number], 1 << 30);
    ASSERT_TRUE(bytes.ok()) << bytes.error().text();
    EXPECT_TRUE(*bytes == bytes_of(file)) << file;
    EXPECT_EQ(files->read(modules[number], 100).error().code, Errc::Limit);
  };
  expect(0, folder.at("liar"));
  size_t libraries = 0;
  for (size_t i = 1; i < modules.size(); ++i) {
    if (modules[i].path == folder.at("linked.so")) expect(i, folder.at("libdaily.so"));
    else if (modules[i].path.find("libc.so") != std::string::npos) expect(i, modules[i].path);
    else continue;
    ++libraries;
  }
  EXPECT_EQ(libraries, 2u) << "the linked one, and the C library behind links of root's";
}

TEST(LinuxFiles, AListWithLiesIsAnsweredSoon) {
  OpenFolder folder;
  const std::string large = folder.write("large", "x", 0644);
  fs::resize_file(large, uint64_t{512} << 20);
  const OtherProgram program({folder.take("liar"), "many", large});
  ASSERT_EQ(program.said(), "lied");
  Debuggee one;
  one.attach(program.pid());
  ProcessFacts& facts = *one.target->facts();
  const Watchdog watchdog(60, "modules");
  const std::vector<Module> modules = *facts.modules(one.pid);
  size_t lies = 0;
  for (const Module& module : modules) lies += module.path == large;
  EXPECT_EQ(lies, 1u) << "one place, one module";
  EXPECT_LT(modules.size(), 20u);
  facts.give_up = [] { return true; };
  EXPECT_FALSE(facts.modules(one.pid).ok());
  EXPECT_FALSE(facts.libraries_svr4(one.pid).ok());
}

TEST(LinuxFiles, SymbolsWithoutEndAreAnsweredSoon) {
  OpenFolder folder;
  const OtherProgram program({folder.take("liar"), "symbols", folder.take("debuggee")});
  ASSERT_EQ(program.said(), "lied");
  Debuggee one;
  one.attach(program.pid());
  const Watchdog watchdog(60, "a thread-local variable");
  const auto address = one.target->thread_locals()->address(program.pid(), 0, 0);
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.error().code, Errc::Limit) << address.error().text();
  one.target->facts()->give_up = [] { return true; };
  EXPECT_FALSE(one.target->thread_locals()->address(program.pid(), 0, 0).ok());
}

TEST(LinuxFiles, NamesOfLibrariesAreXml) {
  OpenFolder folder;
  const OtherProgram program({folder.take("liar"), "names", folder.take("debuggee")});
  ASSERT_EQ(program.said(), "lied");
  Debuggee one;
  one.attach(program.pid());
  const std::string list = *one.target->facts()->libraries_svr4(one.pid);
  for (const std::string name : {R"(/a\x01\x1b[31m\x7f.so)", R"(/latin\xe9.so)",
                                 "/&lt;&amp;&quot;&apos;&gt;.so", R"(/line\x0aend\x09tab.so)",
                                 "/gr\xc3\xbc\xc3\x9f.so"})
    EXPECT_NE(list.find("name=\"" + name + "\""), std::string::npos) << name << "\n" << list;
}

/// A debugger opens what the list names.
TEST(LinuxFiles, LibrariesAreFilesInMemory) {
  OpenFolder folder;
  const std::string mapped = folder.take("debuggee");
  const OtherProgram program({folder.take("liar"), "names", mapped});
  ASSERT_EQ(program.said(), "lied");
  Debuggee one;
  one.attach(program.pid());
  const std::string list = *one.target->facts()->libraries_svr4(one.pid);
  for (const std::string name : {"/dev/zero", "/proc/self/maps", "/nowhere.so"})
    EXPECT_EQ(list.find("\"" + name + "\""), std::string::npos) << list;
  // A name that begins like a folder whose scripts GDB runs need not lead there.
  EXPECT_EQ(list.find("trusted.so"), std::string::npos) << list;
  EXPECT_NE(list.find("name=\"" + mapped + "\""), std::string::npos) << list;
  EXPECT_NE(list.find("libc.so"), std::string::npos) << list;
}

TEST(LinuxFiles, SharedMemoryIsSomewhereElseEachTime) {
  std::set<uint64_t> places;
  for (int i = 0; i < 4; ++i) {
    Debuggee one;
    one.launch({"ends"});
    one.breakpoint(one.symbol("main"));
    ASSERT_EQ(one.go().kind, StopEvent::Kind::Breakpoint);
    const auto shared = one.target->trace_sites()->fast()->share(one.pid, 1 << 20, {});
    ASSERT_TRUE(shared.ok()) << shared.error().text();
    EXPECT_EQ(shared->address % 4096, 0u);
    EXPECT_TRUE(places.insert(shared->address).second) << std::hex << shared->address;
  }
}

/// A file of this process's own memory.
class Mapped : public testing::Test {
 protected:
  Mapped() : path_(folder_.write("mapped", "mapped", 0644)) {
    const auto fd = open_named(path_);
    here_ = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd->get(), 0);
  }
  ~Mapped() override {
    ::munmap(here_, 4096);
    if (is_root()) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  live::Mapping map() const {
    for (const live::Mapping& one : live::mappings(::getpid()))
      if (one.start == reinterpret_cast<uint64_t>(here_)) return one;
    return {};
  }
  std::string opened() const { return text_of(live::open_mapped(::getpid(), map())); }
  /// The kernel does not lead others than root to the file.
  void as_user() {
    if (is_root()) {
      ASSERT_EQ(::seteuid(kOtherUser), 0);
    }
  }

  OpenFolder folder_;
  std::string path_;
  void* here_ = nullptr;
};

// A program may have 250 MB of them: the kernel takes seconds to say so.
TEST_F(Mapped, AreLeftOffWhereTheServerIsToEnd) {
  int asked = 0;
  const auto ends = [&asked] { return ++asked > 0; };
  EXPECT_GT(live::mappings(::getpid()).size(), 5u);
  EXPECT_TRUE(live::mappings(::getpid(), ends).empty());
  EXPECT_EQ(asked, 1);
}

TEST_F(Mapped, IsWhatEachLineSays) {
  std::set<std::string> known;
  for (const live::Mapping& one : live::mappings(::getpid())) {
    std::string line = fmt::format(
        "{:08x}-{:08x} {}{}{}{} {:08x} {:02x}:{:02x} {} ", one.start, one.end,
        one.readable ? 'r' : '-', one.writable ? 'w' : '-', one.executable ? 'x' : '-',
        one.shared ? 's' : 'p', one.file_offset, major(one.device), minor(one.device), one.inode);
    if (!one.path.empty()) line.resize(std::max<size_t>(line.size(), 73), ' ');
    known.insert(line + one.path);
  }
  // Memory of no file may come and go meanwhile, but for some of it.
  size_t of_no_file = 0;
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    if (line.find('/') != std::string::npos) EXPECT_TRUE(known.contains(line)) << line;
    else of_no_file += known.contains(line);
  }
  EXPECT_GT(of_no_file, 0u);
}

TEST_F(Mapped, IsOpenedByTheNameInTheMaps) {
  as_user();
  EXPECT_EQ(opened(), "mapped");
}

TEST_F(Mapped, AnotherFileOfThatNameIsNotBelieved) {
  fs::rename(path_, folder_.at("moved"));
  EXPECT_EQ(opened(), "mapped");
  const live::Mapping before = [&] {
    live::Mapping out = map();
    out.path = path_;  // as if it had been read a moment before
    return out;
  }();
  folder_.write("mapped", "other", 0644);
  as_user();
  EXPECT_NE(text_of(live::open_mapped(::getpid(), before)).find("not the file that is mapped"),
            std::string::npos);
}

TEST_F(Mapped, IsRootsToOpenWhateverItsNameIsNow) {
  if (!is_root()) GTEST_SKIP() << "only root is led there by the kernel";
  fs::remove(path_);
  EXPECT_EQ(opened(), "mapped");
}

TEST_F(Mapped, WhatIsNoFileIsNotOpened) {
  live::Mapping none = map();
  none.inode = 0;
  EXPECT_EQ(live::open_mapped(::getpid(), none).error().code, Errc::NotFound);
}

}  // namespace
}  // namespace tracewell::target
