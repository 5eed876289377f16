#include "target/recorded/recorded_target.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/x86.h"
#include "symbols/elf_builder.h"
#include "symbols/pe_builder.h"
#include "target/recorded/auxv.h"
#include "target/recorded/placement.h"

namespace tracewell::target {
namespace {

TestElf pie(uint8_t id) {
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R | PF_X, id}, {0x2000, 0x10, PF_R | PF_W, 0}};
  elf.entry = 0x100;
  elf.build_id = {id, id, id, id};
  elf.dynamic_flags_1 = DF_1_PIE;
  return elf;
}

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "replay-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  template <class Builder>
  std::string write(std::string_view name, const Builder& image) {
    const std::vector<uint8_t> bytes = image.build();
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return path.string();
  }
  static Module module(std::string path, uint64_t bias, std::string build_id) {
    Module out;
    out.path = std::move(path);
    out.bias = bias;
    out.start = bias;
    out.build_id = std::move(build_id);
    return out;
  }
  std::filesystem::path folder_;
};

std::vector<uint8_t> auxv_with_entry(uint64_t entry) {
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  for (uint64_t word : std::vector<uint64_t>{AT_PAGESZ, 4096, AT_ENTRY, entry, AT_NULL, 0})
    writer.uint(word, 8);
  return out;
}

TEST(Auxv, FindsAndSurvivesCuts) {
  std::vector<uint8_t> auxv = auxv_with_entry(0x1234);
  EXPECT_EQ(find_auxv(auxv, AT_ENTRY, 8, Endian::Little), 0x1234u);
  EXPECT_EQ(find_auxv(auxv, AT_PHDR, 8, Endian::Little), std::nullopt);
  auxv.resize(25);
  EXPECT_EQ(find_auxv(auxv, AT_ENTRY, 8, Endian::Little), std::nullopt);
  EXPECT_EQ(find_auxv({}, AT_ENTRY, 4, Endian::Big), std::nullopt);
}

TEST_F(Files, AnImageWithoutABaseGoesWhereTheTraceSaysItWas) {
  const std::string path = write("prog", pie(1));
  Catalog catalog;
  const symbols::ImageSpec spec{path, std::nullopt};

  auto nowhere = place_images(catalog, {&spec, 1}, false);
  ASSERT_TRUE(nowhere);
  EXPECT_EQ(nowhere->images.images()[0].start(), 0u);
  EXPECT_EQ(nowhere->notes.size(), 1u);

  catalog.auxv = auxv_with_entry(0x7000100);
  auto by_entry = place_images(catalog, {&spec, 1}, false);
  EXPECT_EQ(by_entry->images.images()[0].start(), 0x7000000u);
  EXPECT_TRUE(by_entry->notes.empty());

  catalog.modules = {module("/elsewhere/other", 0x9000000, "01010101")};
  auto by_id = place_images(catalog, {&spec, 1}, false);
  EXPECT_EQ(by_id->images.images()[0].start(), 0x9000000u);

  catalog.modules = {module("/elsewhere/prog", 0xa000000, "")};
  auto by_name = place_images(catalog, {&spec, 1}, false);
  EXPECT_EQ(by_name->images.images()[0].start(), 0xa000000u);

  const symbols::ImageSpec based{path, 0xb000000};
  auto by_user = place_images(catalog, {&based, 1}, false);
  EXPECT_EQ(by_user->images.images()[0].start(), 0xb000000u);
}

TEST_F(Files, NamesInATraceAreNotFollowedUnasked) {
  Catalog catalog;
  catalog.modules = {module(write("prog", pie(1)), 0x5000000, "01010101")};
  EXPECT_TRUE(place_images(catalog, {}, false)->images.images().empty());
  auto allowed = place_images(catalog, {}, true);
  ASSERT_EQ(allowed->images.images().size(), 1u);
  EXPECT_EQ(allowed->images.images()[0].start(), 0x5000000u);
  EXPECT_TRUE(allowed->notes.empty());
}

TEST_F(Files, ModulesMustBeTheRecordedFiles) {
  Catalog catalog;
  const std::string path = write("prog", pie(1));
  catalog.modules = {module(path, 0x1000, "99999999"), module(path, 0x1000, ""),
                     module("/dev/zero", 0x1000, "01010101"),
                     module("/nonexistent", 0x1000, "01010101"),
                     module("[vdso]", 0x1000, "01010101")};
  auto placed = place_images(catalog, {}, true);
  ASSERT_TRUE(placed);
  EXPECT_TRUE(placed->images.images().empty());
  EXPECT_EQ(placed->notes.size(), 4u);
}

/// GDB runs scripts of files whose names begin like a folder that it trusts.
TEST_F(Files, ANameInATraceThatGoesBackIsShownAsItLeads) {
  const std::string path = write("prog", pie(1));
  const std::filesystem::path up =
      std::filesystem::relative("/", std::filesystem::canonical("/usr/share"));
  Catalog catalog;
  catalog.modules = {module("/usr/share/" + up.string() + path, 0x5000000, "01010101")};
  auto placed = place_images(catalog, {}, true);
  ASSERT_EQ(placed->images.images().size(), 1u);
  EXPECT_EQ(placed->images.images()[0].image->path(),
            std::filesystem::canonical(path).string());
}

TEST_F(Files, WhatTheUserNamedIsNotPlacedTwice) {
  const std::string path = write("prog", pie(1));
  Catalog catalog;
  catalog.modules = {module(path, 0x5000000, "01010101")};
  const symbols::ImageSpec spec{path, std::nullopt};
  EXPECT_EQ(place_images(catalog, {&spec, 1}, true)->images.images().size(), 1u);
}

TEST_F(Files, ABaseThatCoversNoTracepointIsNoted) {
  const symbols::ImageSpec spec{write("prog", pie(1)), 0x5000000};
  Catalog catalog;
  TracepointDef tracepoint;
  tracepoint.address = 0x400100;
  catalog.tracepoints = {tracepoint};
  EXPECT_EQ(place_images(catalog, {&spec, 1}, false)->notes.size(), 1u);
  catalog.tracepoints[0].address = 0x5000100;
  EXPECT_TRUE(place_images(catalog, {&spec, 1}, false)->notes.empty());
}

TEST_F(Files, AMissingImageIsAnError) {
  const symbols::ImageSpec spec{(folder_ / "missing").string(), std::nullopt};
  EXPECT_FALSE(place_images({}, {&spec, 1}, false));
}

TEST_F(Files, TheUsersPlaceBeatsTheRecordedVector) {
  Catalog catalog;
  catalog.auxv = auxv_with_entry(0x7000100);
  const symbols::ImageSpec same{write("prog", pie(1)), 0x7000000};
  RecordedTarget recorded(catalog, place_images(catalog, {&same, 1}, false)->images);
  EXPECT_EQ(*recorded.facts()->auxv(1), catalog.auxv);
  const symbols::ImageSpec moved{same.path, 0x9000000};
  RecordedTarget other(catalog, place_images(catalog, {&moved, 1}, false)->images);
  EXPECT_EQ(find_auxv(*other.facts()->auxv(1), AT_ENTRY, 8, Endian::Little), 0x9000100u);
}

TEST_F(Files, LibrariesAreListedByTheirDynamicSection) {
  TestElf library = pie(2);
  library.dynamic_flags_1 = 0;
  library.soname = true;
  symbols::ImageMap images;
  ASSERT_TRUE(images.add(*symbols::Image::open(write("prog", pie(1))), 0x5000000));
  ASSERT_TRUE(images.add(*symbols::Image::open(write("lib<1>.so", library)), 0x6000000));
  RecordedTarget recorded({}, images);
  const std::string list = *recorded.facts()->libraries_svr4(1);
  EXPECT_NE(list.find("lib&lt;1&gt;.so\" lm=\"0x6000000\" l_addr=\"0x6000000\" l_ld=\"0x6000"),
            std::string::npos)
      << list;
  EXPECT_NE(list.find(" lmid=\"0x0\"/>"), std::string::npos) << list;
  EXPECT_EQ(recorded.libraries(), nullptr);
  EXPECT_EQ(list.find("prog\""), std::string::npos);
  EXPECT_TRUE(recorded.facts()->exec_file(1)->ends_with("/prog"));
}

TestPe pe(bool library) {
  TestPe out;
  out.flags = library ? 0x2022 : 0x22;
  out.sections = {{".text", 0x2000, TestPe::kText, {0x90, 0xc3}}};
  return out;
}

TEST_F(Files, LibrariesOfWindowsAreInBothLists) {
  symbols::ImageMap images;
  ASSERT_TRUE(images.add(*symbols::Image::open(write("a.exe", pe(false))), std::nullopt));
  ASSERT_TRUE(images.add(*symbols::Image::open(write("b.dll", pe(true))), 0x7ffa00000000));
  RecordedTarget recorded({}, images);
  ASSERT_NE(recorded.libraries(), nullptr);
  const std::string list = *recorded.libraries()->library_list(1);
  EXPECT_NE(list.find("b.dll\"><segment address=\"0x7ffa00002000\"/>"), std::string::npos) << list;
  EXPECT_EQ(list.find("a.exe"), std::string::npos) << "it is where its file wants to be";
  EXPECT_TRUE(recorded.facts()->exec_file(1)->ends_with("/a.exe"));
  const std::string svr4 = *recorded.facts()->libraries_svr4(1);
  EXPECT_NE(svr4.find("b.dll\" lm=\"0x7ffa00000000\" l_addr=\"0x7ff8c0000000\" l_ld=\"0x0\""),
            std::string::npos)
      << svr4;
}

TEST_F(Files, LibrariesWithoutTheirProgramHaveAStandIn) {
  TestElf library = pie(2);
  library.dynamic_flags_1 = 0;
  library.soname = true;
  symbols::ImageMap images;
  ASSERT_TRUE(images.add(*symbols::Image::open(write("lib.so", library)), 0x6000000));
  RecordedTarget recorded({}, images);
  EXPECT_TRUE(symbols::Image::open(*recorded.facts()->exec_file(1)));
  EXPECT_FALSE(RecordedTarget({}, {}).facts()->exec_file(1));
}

/// Whoever can write to the folder may put anything there once the trace is open.
TEST_F(Files, ADebuggerSeesWhatWasOpened) {
  const TestElf program = pie(1);
  const std::string path = write("prog", program);
  symbols::ImageMap images;
  ASSERT_TRUE(images.add(*symbols::Image::open(path), 0x6000000));
  RecordedTarget recorded({}, images);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  const std::vector<ListedFile> files = recorded.files();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, path);
  const std::vector<uint8_t> wanted = program.build();
  EXPECT_TRUE(std::ranges::equal(files[0].bytes, wanted));
  EXPECT_EQ(files[0].facts.bytes, wanted.size());
}

/// A program's file may name any as its loader.
TEST_F(Files, ALoaderThatIsNoImageIsNotShown) {
  std::ofstream(folder_ / "secret") << "secret";
  const std::string secret = (folder_ / "secret").string();
  const std::string loader = write("ld.so", pie(7));
  for (const auto& [name, shown] : {std::pair(secret, false), std::pair(loader, true)}) {
    TestElf program = pie(1);
    program.interpreter = name;
    symbols::ImageMap images;
    ASSERT_TRUE(images.add(*symbols::Image::open(write("prog", program)), 0x6000000));
    const auto files = RecordedTarget({}, images).files();
    EXPECT_EQ(std::ranges::count(files, name, &ListedFile::path), shown ? 1 : 0);
  }
}

TEST_F(Files, AMovedProgramOfWindowsIsALibrary) {
  for (const bool is_64 : {true, false}) {
    TestPe file = pe(false);
    file.is_64 = is_64;
    file.image_base = 0x400000;
    symbols::ImageMap images;
    ASSERT_TRUE(images.add(*symbols::Image::open(write("a.exe", file)), 0x600000));
    Catalog catalog;
    catalog.address_bytes = is_64 ? 8 : 4;
    RecordedTarget recorded(catalog, images);
    EXPECT_NE(recorded.libraries()->library_list(1)->find("a.exe\"><segment address=\"0x602000\""),
              std::string::npos);
    // Something that GDB can open takes its place.
    const std::string path = *recorded.facts()->exec_file(1);
    EXPECT_EQ(recorded.files().back().path, path);
    auto stand_in = symbols::Image::open(path);
    ASSERT_TRUE(stand_in) << stand_in.error().text();
    EXPECT_EQ((*stand_in)->facts().address_bytes, catalog.address_bytes);
    EXPECT_TRUE((*stand_in)->facts().program);
    EXPECT_FALSE((*stand_in)->facts().relocatable);
  }
}

TEST(RecordedTarget, DescribesWhatTheTraceDescribes) {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = machine::x86_64_layout({.avx = true});
  RecordedTarget generated(catalog, {});
  EXPECT_NE(generated.target_description(1).find("<architecture>i386:x86-64"), std::string::npos);
  EXPECT_EQ(generated.layout(1).size_bytes, 816u);

  catalog.target_description = "<target>as it was given</target>";
  EXPECT_EQ(RecordedTarget(catalog, {}).target_description(1), catalog.target_description);
  // A description that is not whole would be refused as a whole.
  catalog.target_description = "<target><xi:include href=\"core.xml\"/></target>";
  EXPECT_EQ(RecordedTarget(catalog, {}).target_description(1), generated.target_description(1));
}

TEST(RecordedTarget, WithoutAnyRegistersTheBlockStillHasASize) {
  EXPECT_EQ(RecordedTarget({}, {}).layout(1).size_bytes, 560u);
}

TEST(RecordedTarget, StandsStill) {
  RecordedTarget recorded({}, {});
  EXPECT_EQ(recorded.processes().size(), 1u);
  EXPECT_EQ(recorded.threads(0).size(), 1u);
  EXPECT_TRUE(recorded.threads(7).empty());
  const ResumeAction action{.tid = 1};
  EXPECT_FALSE(recorded.resume({&action, 1}));
  EXPECT_FALSE(recorded.write_memory(1, 0, {}));
  std::vector<uint8_t> block(560);
  EXPECT_EQ(recorded.read_registers(1, block).error().code, Errc::NotFound);
  EXPECT_EQ(recorded.read_memory(1, 0x1000, block), 0u);
  EXPECT_EQ(recorded.process_control(), nullptr);
  EXPECT_EQ((*recorded.wait())->kind, StopEvent::Kind::NoneLeft);
}

}  // namespace
}  // namespace tracewell::target
