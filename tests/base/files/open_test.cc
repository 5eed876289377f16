// Whose links are followed, where names lead, and what a folder refuses. Links of another user are
// made by root; tests that need one say that they were skipped otherwise.
#include "base/files/open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "base/files/beside.h"
#include "base/files/folder.h"

namespace tracewell {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 65534;

class Opening : public testing::Test {
 protected:
  Opening() {
    std::string name = testing::TempDir() + "open.XXXXXX";
    folder_ = mkdtemp(name.data());
    fs::create_directory(folder_ + "/elsewhere");
    std::ofstream(folder_ + "/elsewhere/target") << "text";
  }
  ~Opening() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void link(const std::string& to, const std::string& name) const {
    fs::create_symlink(to, at(name));
  }
  void link_of_other(const std::string& to, const std::string& name) const {
    link(to, name);
    ASSERT_EQ(::lchown(at(name).c_str(), kOther, kOther), 0);
  }
  static bool is_root() { return ::geteuid() == 0; }

  std::string folder_;
};

std::string text_of(Result<UniqueFd> fd) {
  if (!fd.ok()) return "error: " + fd.error().text();
  char text[64];
  const ssize_t got = ::read(fd->get(), text, sizeof text);
  return {text, static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

TEST_F(Opening, FoundLinksOfThisUserAreFollowed) {
  link("elsewhere/target", "first");
  link(at("first"), "second");
  link("../second", "elsewhere/third");
  link("elsewhere", "folder");
  for (const char* name : {"first", "second", "elsewhere/third", "folder/target",
                           "folder/../elsewhere/./target", "folder//target"})
    EXPECT_EQ(text_of(open_found(at(name))), "text") << name;
  EXPECT_EQ(open_found(at("none")).error().code, Errc::NotFound);
  EXPECT_EQ(open_found(at("elsewhere/target/")).error().code, Errc::NotFound);
}

TEST_F(Opening, FoundLinksOfOthersAreNot) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's link";
  link_of_other("elsewhere/target", "first");
  link_of_other("elsewhere", "folder");
  for (const char* name : {"first", "folder/target"}) {
    const auto fd = open_found(at(name));
    ASSERT_FALSE(fd.ok()) << name;
    EXPECT_EQ(fd.error().code, Errc::InvalidArgument);
    EXPECT_NE(fd.error().message.find("symbolic link of user"), std::string::npos);
    FoundRules also;
    also.also = kOther;
    EXPECT_EQ(text_of(open_found(at(name), also)), "text");
    EXPECT_EQ(text_of(open_named(at(name))), "text");
  }
}

TEST_F(Opening, FoundFilesAreRegular) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  link("fifo", "to_fifo");
  link("/dev/zero", "zero");
  link("/proc/self/fd/0", "input");
  for (const char* name : {"fifo", "to_fifo", "zero", "input", "elsewhere"})
    EXPECT_EQ(open_found(at(name)).error().code, Errc::InvalidArgument) << name;
}

/// They say that they are regular, and may have no end, or be read by one reader only.
TEST_F(Opening, FoundFilesAreNoneOfTheKernels) {
  link("/proc/self/pagemap", "pages");
  link("/proc/self/status", "status");
  link("/sys/kernel/uevent_seqnum", "number");
  for (const char* name : {"/proc/self/pagemap", "/proc/version", "/sys/kernel/uevent_seqnum"}) {
    if (!facts_at(name)) continue;  // a container hides it
    const auto fd = open_found(name);
    ASSERT_FALSE(fd.ok()) << name;
    EXPECT_EQ(fd.error().code, Errc::InvalidArgument);
    EXPECT_NE(fd.error().message.find("file of the kernel's"), std::string::npos);
    EXPECT_TRUE(open_named(name).ok()) << name;
  }
  for (const char* name : {"pages", "status", "number"}) {
    EXPECT_FALSE(open_found(at(name)).ok()) << name;
    EXPECT_FALSE(InputFile::open_found(at(name)).ok()) << name;
  }
  const auto held = hold_behind("/proc/self/status");
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(open_held(held->get(), HeldUse::Read, "it").error().code, Errc::InvalidArgument);
}

TEST_F(Opening, FoundFilesHaveNoMoreThanTheirSize) {
  std::ofstream(at("empty"));
  const auto empty = InputFile::open_found(at("empty"));
  const auto found = InputFile::open_found(at("elsewhere/target"));
  ASSERT_TRUE(empty.ok() && found.ok());
  std::ofstream(at("empty"), std::ios::app) << "more";
  std::ofstream(at("elsewhere/target"), std::ios::app) << "more";
  EXPECT_EQ((*empty)->bytes().size(), 0u);
  EXPECT_EQ((*found)->bytes().size(), 4u);
  // Whatever leads to one that says 0 and has something: it is read to its end only when named.
  constexpr char kEndless[] = "/proc/self/status";
  const auto unsized = InputFile::of(UniqueFd(::open(kEndless, O_RDONLY | O_NONBLOCK)), "it");
  ASSERT_TRUE(unsized.ok());
  EXPECT_EQ((*unsized)->bytes().size(), 0u);
  const auto named = InputFile::open(kEndless);
  ASSERT_TRUE(named.ok());
  EXPECT_NE((*named)->bytes().size(), 0u);
}

TEST_F(Opening, LinksBelowARootStayThere) {
  fs::create_directories(at("root/lib"));
  std::ofstream(at("root/lib/inside")) << "inside";
  link("/lib/inside", "root/absolute");
  link("../../../../lib/inside", "root/lib/up");
  link("/elsewhere/target", "root/out");
  const UniqueFd root(::open(at("root").c_str(), O_PATH | O_DIRECTORY));
  FoundRules rules;
  rules.folder = root.get();
  rules.in_root = true;
  for (const char* name : {"/absolute", "absolute", "/lib/up", "/../lib/inside"})
    EXPECT_EQ(text_of(open_found(name, rules)), "inside") << name;
  EXPECT_EQ(open_found("/out", rules).error().code, Errc::NotFound);
}

/// They are the kernel's, and lead out of any root.
TEST_F(Opening, LinksThatStandForOpenFilesLeadOutOfNoRoot) {
  const UniqueFd root(::open("/", O_PATH | O_DIRECTORY));
  FoundRules rules;
  rules.folder = root.get();
  rules.in_root = true;
  for (const char* name : {"/proc/self/exe", "/proc/self/root/etc/passwd", "/proc/self/cwd/x",
                           "/proc/thread-self/root/etc/passwd"})
    EXPECT_EQ(open_found(name, rules).error().code, Errc::InvalidArgument) << name;
  // A file there is reached, and is none that may be opened.
  EXPECT_NE(open_found("/proc/self/status", rules).error().message.find("file of the kernel's"),
            std::string::npos);
}

TEST_F(Opening, WhatIsBehindALinkOfProcIsHeldAndThenOpened) {
  const UniqueFd file(::open(at("elsewhere/target").c_str(), O_RDONLY));
  const auto held = hold_behind("/proc/self/fd/" + std::to_string(file.get()));
  ASSERT_TRUE(held.ok());
  fs::rename(at("elsewhere/target"), at("moved"));
  EXPECT_EQ(text_of(open_held(held->get(), HeldUse::Read, "it")), "text");
  const auto both = open_held(held->get(), HeldUse::ReadAndWrite, "it");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(::pwrite(both->get(), "T", 1, 0), 1);
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  const auto fifo = hold_behind(at("fifo"));
  ASSERT_TRUE(fifo.ok());
  EXPECT_EQ(open_held(fifo->get(), HeldUse::Read, "it").error().code, Errc::InvalidArgument);
  EXPECT_EQ(hold_behind("/proc/self/fd/4000").error().code, Errc::NotFound);
}

TEST_F(Opening, LinksThatGoRoundAreAnError) {
  link("b", "a");
  link("a", "b");
  EXPECT_EQ(open_found(at("a")).error().code, Errc::Io);
  EXPECT_EQ(write_place(at("a")).error().code, Errc::Io);
}

TEST_F(Opening, NothingIsWrittenThroughALinkOfAnother) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's link";
  link_of_other("elsewhere/target", "first");
  link_of_other("elsewhere/new", "to_nothing");
  link_of_other("elsewhere", "folder");
  for (const char* name : {"first", "to_nothing", "folder/new"}) {
    const auto file = OutputFile::create(at(name));
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.error().code, Errc::InvalidArgument);
  }
  EXPECT_FALSE(fs::exists(at("elsewhere/new")));
}

TEST_F(Opening, WhatIsWrittenGoesToTheEndOfOwnLinks) {
  link("elsewhere/new", "first");
  auto file = OutputFile::create(at("first"));
  ASSERT_TRUE(file.ok()) << file.error().text();
  // The folder is held: what becomes of names does not matter any more.
  fs::remove(at("first"));
  fs::rename(at("elsewhere"), at("moved"));
  ASSERT_TRUE(file->write(std::string_view("new")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(text_of(open_named(at("moved/new"))), "new");
  EXPECT_FALSE(fs::exists(at("first")));
}

TEST_F(Opening, WhatIsKeptBesideHasTheRightsOfTheOther) {
  fs::permissions(at("elsewhere/target"), fs::perms(0620));
  const Original other{at("elsewhere/target"), *facts_at(at("elsewhere/target"))};
  auto file = OutputFile::create_beside(at("elsewhere/beside"), other);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(facts_at(at("elsewhere/beside"))->mode, 0600u);
  link("target", "elsewhere/link");
  EXPECT_EQ(OutputFile::create_beside(at("elsewhere/link"), other).error().code,
            Errc::InvalidArgument);
  EXPECT_EQ(text_of(open_named(at("elsewhere/target"))), "text");
}

TEST_F(Opening, WhatRootKeepsBesideBelongsToTheOwner) {
  if (!is_root()) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(at("elsewhere/target").c_str(), kOther, kOther), 0);
  const Original other{at("elsewhere/target"), *facts_at(at("elsewhere/target"))};
  auto file = OutputFile::create_beside(at("elsewhere/beside"), other);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(facts_at(at("elsewhere/beside"))->owner, kOther);
}

TEST_F(Opening, NothingIsKeptWhereItIsNotBesideTheFile) {
  const Original other{at("there/target"), *facts_at(at("elsewhere/target"))};
  const auto keep = [&] { return OutputFile::create_beside(at("there/beside"), other); };
  fs::create_directory(at("there"));
  EXPECT_EQ(keep().error().code, Errc::InvalidArgument) << "nothing has the name";
  std::ofstream(at("there/target")) << "text";
  EXPECT_EQ(keep().error().code, Errc::InvalidArgument) << "another file has it";
  fs::remove(at("there/target"));
  link("../elsewhere/target", "there/target");
  EXPECT_TRUE(keep().ok());
  fs::remove_all(at("there"));
  link("elsewhere", "there");
  EXPECT_TRUE(keep().ok());
  EXPECT_FALSE(facts_at(at("elsewhere/beside")));
}

TEST_F(Opening, NothingIsKeptBesideLinksOfOthers) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's link";
  const Original other{at("target"), *facts_at(at("elsewhere/target"))};
  link_of_other("elsewhere/target", "target");
  const auto file = OutputFile::create_beside(at("beside"), other);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("symbolic link of user"), std::string::npos);
  // Nor behind a link of one's own that leads to theirs.
  link("target", "first");
  EXPECT_FALSE(OutputFile::create_beside(at("beside"), {at("first"), other.facts}).ok());
}

TEST_F(Opening, AFolderWritesOnlyPlainFilesOfItsOwn) {
  const auto folder = Folder::named(folder_);
  ASSERT_TRUE(folder.ok());
  using Make = Folder::Make;
  EXPECT_TRUE(folder->open_own("new", Make::IfMissing).ok());
  EXPECT_EQ(folder->open_own("new", Make::New).error().code, Errc::Io);
  EXPECT_EQ(folder->open_own("none", Make::No).error().code, Errc::NotFound);
  link("elsewhere/target", "link");
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  fs::create_hard_link(at("elsewhere/target"), at("hard"));
  for (const char* name : {"link", "fifo", "hard", "../x", ".."})
    EXPECT_EQ(folder->open_own(name, Make::IfMissing).error().code, Errc::InvalidArgument)
        << name;
  if (!is_root()) return;
  ASSERT_EQ(::chown(at("new").c_str(), kOther, kOther), 0);
  EXPECT_EQ(folder->open_own("new", Make::IfMissing).error().code, Errc::InvalidArgument);
}

TEST_F(Opening, FoldersAreMadeWithThoseAboveThem) {
  const mode_t mask = ::umask(027);
  for (const char* name : {"made/of/many/", "made/of/others", "made//of/../of/again", "elsewhere"})
    EXPECT_TRUE(make_folders(at(name)).ok()) << name;
  EXPECT_TRUE(fs::is_directory(at("made/of/many")) && fs::is_directory(at("made/of/again")));
  ::umask(mask);
  EXPECT_EQ(facts_at(at("made/of"))->mode, 0750u);
  link("elsewhere", "own");
  EXPECT_TRUE(make_folders(at("own/inside")).ok());
  EXPECT_TRUE(fs::is_directory(at("elsewhere/inside")));
  for (const char* name : {"elsewhere/target", "elsewhere/target/folder"})
    EXPECT_FALSE(make_folders(at(name)).ok()) << name;
  EXPECT_FALSE(make_folders("").ok());
}

TEST_F(Opening, FoldersAreNotMadeThroughALinkOfAnother) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's link";
  link_of_other("elsewhere", "theirs");
  EXPECT_EQ(make_folders(at("theirs/made")).error().code, Errc::InvalidArgument);
  EXPECT_FALSE(fs::exists(at("elsewhere/made")));
}

TEST_F(Opening, RootMakesNoFoldersWhereOthersMayExchangeThem) {
  if (!is_root()) GTEST_SKIP() << "only root can be root";
  for (const auto& [name, owner, mode] :
       {std::tuple("theirs", kOther, 0700u), {"open", 0u, 0777u}, {"sticky", 0u, 01777u}}) {
    fs::create_directory(at(name));
    ASSERT_EQ(::chown(at(name).c_str(), owner, owner), 0);
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
    EXPECT_EQ(make_folders(at(name) + "/new/inside").ok(), mode == 01777u) << name;
    EXPECT_EQ(fs::exists(at(name) + "/new"), mode == 01777u) << name;
  }
}

TEST_F(Opening, NamesInAFolderAreNoPaths) {
  const auto folder = Folder::named(at("elsewhere"));
  ASSERT_TRUE(folder.ok());
  std::ofstream(at("beside")) << "text";
  const Errc no = Errc::InvalidArgument;
  for (const char* name : {"../beside", "..", ".", "", "a/b"}) {
    EXPECT_EQ(folder->remove(name).error().code, no) << name;
    EXPECT_EQ(folder->remove_folder(name).error().code, no) << name;
    EXPECT_EQ(folder->rename(name, "target").error().code, no) << name;
    EXPECT_EQ(folder->rename("target", name).error().code, no) << name;
    EXPECT_EQ(folder->inside(name).error().code, no) << name;
    EXPECT_EQ(folder->make_inside(name).error().code, no) << name;
  }
  EXPECT_EQ(text_of(open_named(at("beside"))), "text");
}

TEST_F(Opening, WhatIsRemovedIsInTheFolderThatWasLookedAt) {
  const auto place = place_beside(at("elsewhere/target"));
  ASSERT_TRUE(place.ok());
  fs::rename(at("elsewhere"), at("moved"));
  fs::create_directory(at("elsewhere"));
  std::ofstream(at("elsewhere/target")) << "other";
  EXPECT_TRUE(remove_at(*place, "target").ok());
  EXPECT_FALSE(fs::exists(at("moved/target")));
  EXPECT_EQ(text_of(open_named(at("elsewhere/target"))), "other");
  EXPECT_EQ(remove_at(*place, "target").error().code, Errc::NotFound);
}

/// Not even while it is written: who opens it then reads all that comes later.
TEST_F(Opening, WhatIsWrittenHasNobodysRightsBeforeItsOwn) {
  const mode_t before = ::umask(0);
  std::ofstream(at("private")) << "text";
  fs::permissions(at("private"), fs::perms(0600));
  const auto mode_of_temporary = [this] {
    for (const auto& one : fs::directory_iterator(folder_))
      if (one.path().filename().string().starts_with("private."))
        return static_cast<uint32_t>(one.status().permissions());
    return 0u;
  };
  auto file = OutputFile::create(at("private"), OutputFile::Existing::Replace,
                                 OutputFile::Meanwhile::Named);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(mode_of_temporary(), 0600u);
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(facts_at(at("private"))->mode, 0600u);
  ::umask(before);
}

TEST_F(Opening, WhatRootReplacesIsNotWiderThanItWas) {
  if (!is_root()) GTEST_SKIP() << "only root can make another user's file";
  const mode_t before = ::umask(022);
  for (const auto& [mode, wanted] : {std::pair(0600u, 0600u), {0666u, 0644u}, {0000u, 0000u}}) {
    ASSERT_EQ(::chown(at("elsewhere/target").c_str(), kOther, kOther), 0);
    ASSERT_EQ(::chmod(at("elsewhere/target").c_str(), mode), 0);
    auto file = OutputFile::create(at("elsewhere/target"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->commit().ok());
    EXPECT_EQ(facts_at(at("elsewhere/target"))->owner, 0u);
    EXPECT_EQ(facts_at(at("elsewhere/target"))->mode, wanted);
  }
  ::umask(before);
}

TEST_F(Opening, AFolderIsHeldWhateverBecomesOfItsName) {
  auto folder = Folder::named(at("elsewhere"));
  ASSERT_TRUE(folder.ok());
  fs::rename(at("elsewhere"), at("moved"));
  EXPECT_EQ(*folder->names(), std::vector<std::string>{"target"});
  EXPECT_EQ(text_of(folder->open("target")), "text");
  ASSERT_TRUE(folder->make_inside("rings").ok());
  ASSERT_TRUE(folder->rename("target", "other").ok());
  ASSERT_TRUE(folder->remove("other").ok());
  EXPECT_EQ(*folder->names(), std::vector<std::string>{"rings"});
  link("moved", "link");
  EXPECT_FALSE(Folder::named(folder_)->inside("link").ok());
}

TEST_F(Opening, FolderToWriteInIsNotBehindOthersLinks) {
  link("elsewhere", "mine");
  EXPECT_TRUE(Folder::named_to_write(at("mine")).ok());
  const auto missing = Folder::named_to_write(at("none"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Errc::NotFound);
  if (!is_root()) GTEST_SKIP() << "links of another user are root's to make";
  link_of_other("elsewhere", "theirs");
  EXPECT_FALSE(Folder::named_to_write(at("theirs")).ok());
  EXPECT_FALSE(Folder::around(at("theirs/target")).ok());
}

TEST_F(Opening, PlaceOfAName) {
  link("elsewhere", "folder");
  const auto place = Folder::around(at("folder/new"));
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->name, "new");
  EXPECT_EQ(place->folder.path(), at("folder"));
  EXPECT_TRUE(place->folder.make_inside("new", true).ok());
  EXPECT_TRUE(fs::is_directory(at("elsewhere/new")));
  EXPECT_FALSE(place->folder.make_inside("new", true).ok());
  EXPECT_TRUE(place->folder.make_inside("new").ok());
  for (const char* wrong : {"", "folder/.", "folder/..", "folder/"})
    EXPECT_FALSE(Folder::around(at(wrong)).ok()) << wrong;
}

TEST_F(Opening, OutputInAHeldFolder) {
  const auto folder = Folder::named(at("elsewhere"));
  ASSERT_TRUE(folder.ok());
  fs::rename(at("elsewhere"), at("moved"));
  auto file = OutputFile::create_in(*folder, "new");
  ASSERT_TRUE(file.ok() && file->write("text").ok() && file->commit().ok());
  EXPECT_EQ(text_of(open_named(at("moved/new"))), "text");
  link("target", "moved/link");
  EXPECT_FALSE(OutputFile::create_in(*folder, "link").ok());
  EXPECT_FALSE(folder->read("target", 3).ok());
  EXPECT_TRUE(folder->read("target", 4).ok());
}

}  // namespace
}  // namespace tracewell
