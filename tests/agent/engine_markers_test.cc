// Static tracepoints: what they collect, and the semaphores of their probes.
#include "agent/engine_world.h"
#include "agent/shared/upload.h"
#include "base/text/hex.h"
#include "symbols/elf_builder.h"

namespace tracewell::agent::test {
namespace {

using namespace std::literals;

constexpr uint64_t kBias = 0x10000;

/// One library with a probe at 0x1000 that has a semaphore, and another one without at 0x1010.
class OneLibrary final : public target::ProcessFacts, public target::ModuleFiles {
 public:
  Result<std::vector<uint8_t>> auxv(target::Pid) override { return {Errc::NotFound, "none"}; }
  Result<std::string> exec_file(target::Pid) override { return {Errc::NotFound, "none"}; }
  Result<std::vector<Module>> modules(target::Pid) override {
    std::vector<Module> out{{"/main", 0, 0, 0, {}, {}}};
    out.resize(1 + libraries, {"/library.so", kBias, 0, 0, build_id, {}});
    return out;
  }
  Result<std::string> libraries_svr4(target::Pid) override { return {Errc::NotFound, "none"}; }
  bool read_only(target::Pid, uint64_t, uint64_t) override { return false; }
  std::unique_ptr<target::ModuleFiles> module_files(target::Pid) override {
    /// It stays the test's.
    class Ours final : public target::ModuleFiles {
     public:
      explicit Ours(target::ModuleFiles& files) : files_(files) {}
      Result<std::vector<uint8_t>> read(const Module& module, uint64_t bytes_max) override {
        return files_.read(module, bytes_max);
      }

     private:
      target::ModuleFiles& files_;
    };
    ++looks;
    return std::make_unique<Ours>(*this);
  }
  Result<std::vector<uint8_t>> read(const Module& module, uint64_t bytes_max) override {
    if (module.path == "/main") return {Errc::NotFound, "it was deleted"};
    ++reads;
    if (file.size() > bytes_max) return {Errc::Limit, "it is too large"};
    return file;
  }

  std::string build_id;
  std::vector<uint8_t> file;
  size_t libraries = 1, reads = 0, looks = 0;
};

std::vector<uint8_t> probe(uint64_t address, uint64_t semaphore, std::string_view texts) {
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  for (const size_t number : {size_t{8}, 24 + texts.size(), size_t{3}}) writer.uint(number, 4);
  writer.bytes(as_bytes("stapsdt\0"sv));
  for (const uint64_t number : {address, uint64_t{0}, semaphore}) writer.uint(number, 8);
  writer.bytes(as_bytes(texts));
  out.resize((out.size() + 3) / 4 * 4);
  return out;
}

std::vector<uint8_t> build_id() {
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  for (const uint64_t number : {4, 4, NT_GNU_BUILD_ID}) writer.uint(number, 4);
  writer.bytes(as_bytes("GNU\0\1\2\3\4"sv));
  return out;
}

class EngineMarkers : public EngineTest {
 protected:
  EngineMarkers() {
    std::vector<uint8_t> notes = probe(
        0x1000, 0x8000, "a\0b\0-8@%r0 4@8(%r1) 8@x(%rip) 8@64(%r1)\0"sv);
    const auto other = probe(0x1010, 0, "a\0c\0\0"sv);
    notes.insert(notes.end(), other.begin(), other.end());
    TestElf elf;
    elf.sections = {{".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, build_id()},
                    {".note.stapsdt", SHT_NOTE, 0, 0, notes}};
    library.file = elf.build();
    world.known = &library;
    world.fill(kBias + 0x8000, "\xff\0"sv);
    world.fill(0x2008, "abcd");
  }
  uint64_t semaphore() {
    uint8_t bytes[2] = {};
    EXPECT_EQ(world.read_memory(kPid, kBias + 0x8000, bytes), 2u);
    return load_uint(bytes, 2, Endian::Little);
  }

  OneLibrary library;
};

/// A program may have mapped as many files as it likes.
TEST_F(EngineMarkers, TheSearchEndsWhenNobodyWantsItsAnswer) {
  library.libraries = 1000;
  library.give_up = [&] { return library.reads == 3; };
  find_markers(world, kPid);
  EXPECT_EQ(library.reads, 3u);
}

/// Of files of 300 MiB, six fit into what is read of a process.
TEST_F(EngineMarkers, NotAllOfManyLargeFilesIsRead) {
  library.libraries = 20;
  const size_t small = library.file.size();
  library.file.resize(size_t{300} << 20);
  const size_t found = find_markers(world, kPid).size();
  EXPECT_EQ(found, 6u * 2);
  library.file.resize(small);
}

/// The list of libraries, and how often one file is mapped, are what a program makes them.
TEST_F(EngineMarkers, OfManyLibrariesThereAreNotMoreThanOfALargeOne) {
  library.libraries = 40000;
  EXPECT_EQ(find_markers(world, kPid).size(), 65536u);
  EXPECT_EQ(library.reads, 32768u) << "two each, and none for nothing";
  EXPECT_EQ(library.looks, 1u) << "at what is mapped";
}

TEST_F(EngineMarkers, AreFoundInModules) {
  const auto all = engine.markers(kPid);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, "a:b");
  EXPECT_EQ(all[0].address, kBias + 0x1000);
  EXPECT_EQ(all[0].semaphore, kBias + 0x8000);
  EXPECT_EQ(all[1].semaphore, 0u);
  library.build_id = "01020304";
  EXPECT_EQ(engine.markers(kPid).size(), 2u);
  library.build_id = "01020305";
  EXPECT_TRUE(engine.markers(kPid).empty()) << "the file is another one by now";
}

TEST(MarkerText, IsToBeShown) {
  const Marker odd{.address = 0x1000,
                   .id = "a:\x1b[2J",
                   .arguments = "\xc2\x9b" "31m\r8@%al",
                   .hook = false,
                   .semaphore = 0};
  EXPECT_EQ(marker_text(odd), "1000:" + to_hex(as_bytes("a:\\x1b[2J")) + ":" +
                                  to_hex(as_bytes("\\xc2\\x9b31m\\x0d8@%al")));
}

TEST_F(EngineMarkers, DataIsText) {
  ASSERT_TRUE(define("1:11000:E:0:0:S-").ok());
  ASSERT_TRUE(define("-1:11000:L").ok());
  ASSERT_TRUE(define("2:11010:E:0:0:S-").ok());
  ASSERT_TRUE(define("-2:11010:L").ok());
  EXPECT_EQ(semaphore(), 255u);
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(semaphore(), 256u);
  hit(kBias + 0x1000);
  hit(kBias + 0x1010);
  EXPECT_EQ(blocks(0), "S(arg0=4369 arg1=0x64636261 arg2=? arg3=?\0)"s);
  EXPECT_EQ(blocks(1), "S(\0)"s);
  EXPECT_TRUE(engine.running()) << "what cannot be read is no fault";
  ASSERT_TRUE(engine.stop().ok());
  EXPECT_EQ(semaphore(), 255u);
}

TEST_F(EngineMarkers, OnlyStaticTracepointsHaveData) {
  ASSERT_TRUE(define("1:11000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:11000:L").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(semaphore(), 255u);
  hit(kBias + 0x1000);
  EXPECT_EQ(blocks(0), "");
}

TEST_F(EngineMarkers, ThereMustBeOne) {
  ASSERT_TRUE(define("1:11001:E:0:0:S").ok());
  const Status status = engine.start(kPid);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().text().find("no static tracepoint marker at 0x11001"),
            std::string::npos);
  EXPECT_FALSE(engine.running());
  EXPECT_TRUE(world.sites.empty());
}

TEST_F(EngineMarkers, SemaphoresDuringARun) {
  ASSERT_TRUE(engine.start(kPid).ok());
  ASSERT_TRUE(define("1:11000:E:0:0:S").ok());
  EXPECT_EQ(semaphore(), 256u);
  ASSERT_TRUE(define("1:11000:E:0:5:S").ok()) << "it replaces the first one";
  EXPECT_EQ(semaphore(), 256u);
  ASSERT_TRUE(define("2:11000:E:0:0:S").ok());
  EXPECT_EQ(semaphore(), 257u);
  EXPECT_FALSE(define("3:11004:E:0:0:S").ok());
  world.refused_site = kBias + 0x1010;
  EXPECT_FALSE(define("3:11010:E:0:0:S").ok());
  EXPECT_EQ(semaphore(), 257u);
  ASSERT_TRUE(engine.reset().ok());
  EXPECT_EQ(semaphore(), 255u);
}

/// A marker's file says where the semaphore is, so another program has something else there.
TEST_F(EngineMarkers, SemaphoresOfOtherProcessesAreLeftAlone) {
  ASSERT_TRUE(define("1:11000:E:0:0:S").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  world.others = {{kPid + 1, true}, {kPid + 2, true}};
  ASSERT_TRUE(engine.stop().ok());
  EXPECT_EQ(world.counts.size(), 1u);
  EXPECT_EQ((world.counts[{kPid, kBias + 0x8000}]), 0);
}

}  // namespace
}  // namespace tracewell::agent::test
