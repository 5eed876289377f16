// Where a debugger may have trace files saved, and where not.
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/buffer/trace_buffer.h"
#include "agent/buffer/trace_source.h"
#include "base/files/file.h"
#include "model/stream.h"
#include "server/live/save_folder.h"
#include "target/fake/fake_target.h"

namespace tracewell::server {
namespace {

TEST(SaveFolder, LeadsNowhereElse) {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / fmt::format("save-folder-{}", ::getpid());
  const fs::path folder = top / "folder";
  fs::create_directories(folder / "inner");
  fs::create_symlink(top, folder / "out");
  fs::create_symlink(top / "target", folder / "leaf");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  SaveFolder saves;
  const auto save = [&](std::string_view name) {
    target::FakeTarget target;
    agent::TraceBuffer buffer;
    agent::TraceBufferSource source(buffer, {});
    return saves.save(name, source, {}).ok();
  };
  EXPECT_FALSE(save("a.tf"));
  EXPECT_FALSE(saves.set_folder((top / "none").string()).ok());
  EXPECT_TRUE(saves.set_folder(folder.string()).ok());
  EXPECT_TRUE(save("a.tf"));
  EXPECT_FALSE(save("a.tf"));
  EXPECT_TRUE(save("inner/../inner/b.tf"));
  for (std::string_view name : {"", ".", "..", "inner/", "../x.tf", "inner/../../x.tf", "out/x.tf",
                                "leaf", "fifo", "/x.tf", "none/x.tf"})
    EXPECT_FALSE(save(name)) << name;
  EXPECT_FALSE(save(std::string_view("x\0.tf", 5)));
  // Absolute names that lead inside are as good as relative ones, also through the link by which
  // the folder itself is known.
  EXPECT_TRUE(save((folder / "absolute.tf").string()));
  EXPECT_TRUE(save((folder / "inner" / "absolute.tf").string()));
  fs::create_symlink(folder, top / "known-as");
  EXPECT_TRUE(save((top / "known-as" / "linked.tf").string()));
  for (const fs::path& name : {folder / "out" / "x.tf", folder / ".." / "x.tf", top / "x.tf",
                               folder / "inner" / ".." / ".." / "x.tf", folder, folder / "inner",
                               fs::path(folder.string() + "-sibling") / "x.tf"})
    EXPECT_FALSE(save(name.string())) << name;
  saves.set_overwrite(true);
  EXPECT_TRUE(save("a.tf"));
  for (std::string_view name : {"out/x.tf", "leaf", "fifo"}) EXPECT_FALSE(save(name)) << name;
  EXPECT_TRUE(saves.set_folder("").ok());
  EXPECT_FALSE(save("a.tf"));
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(top))
    files += fs::is_regular_file(entry.symlink_status());
  EXPECT_EQ(files, 5u);
  fs::remove_all(top);
}

bool saves_no_frames(const SaveFolder& saves, std::string_view name) {
  agent::TraceBuffer buffer;
  agent::TraceBufferSource source(buffer, {});
  return saves.save(name, source, {}).ok();
}

TEST(SaveFolder, IsHeldFromTheMomentThatItIsNamed) {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / fmt::format("save-held-{}", ::getpid());
  for (const char* name : {"first", "second"}) fs::create_directories(top / name);
  fs::create_symlink("first", top / "link");
  SaveFolder saves;
  ASSERT_TRUE(saves.set_folder((top / "link").string()).ok());
  fs::remove(top / "link");
  fs::create_symlink("second", top / "link");
  EXPECT_TRUE(saves_no_frames(saves, "a.tf"));
  fs::rename(top / "first", top / "moved");
  fs::create_symlink("second", top / "first");
  EXPECT_TRUE(saves_no_frames(saves, "b.tf"));
  EXPECT_FALSE(saves_no_frames(saves, (top / "first" / "c.tf").string())) << "it is elsewhere";
  EXPECT_TRUE(fs::exists(top / "moved" / "a.tf") && fs::exists(top / "moved" / "b.tf"));
  EXPECT_TRUE(fs::is_empty(top / "second"));
  fs::remove_all(top);
}

TEST(SaveFolder, LinksOfOthersDoNotLeadThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can make another user's link";
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / fmt::format("save-theirs-{}", ::getpid());
  fs::create_directories(top / "target" / "inner");
  fs::create_symlink("target", top / "link");
  SaveFolder saves;
  EXPECT_TRUE(saves.set_folder((top / "link").string()).ok()) << "a link of one's own";
  ASSERT_EQ(::lchown((top / "link").c_str(), 65534, 65534), 0);
  for (const fs::path& name : {top / "link", top / "link" / "inner"}) {
    const Status refused = saves.set_folder(name.string());
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_NE(refused.error().message.find("symbolic link of user"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_TRUE(saves_no_frames(saves, "a.tf")) << "the one before stays";
  fs::remove_all(top);
}

/// As many frames as a batch has room for, and then it breaks.
class Breaking final : public Source {
 public:
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    if (std::exchange(broken_, true)) return {Errc::Io, "no more"};
    batch.clear();
    Frame frame;
    frame.tracepoint = 1;
    batch.add().body = frame;
    return true;
  }

 private:
  Catalog catalog_;
  bool broken_ = false;
};

/// It has more frames, whoever asks.
class Endless final : public Source {
 public:
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    ++batches;
    batch.clear();
    Frame frame;
    frame.tracepoint = 1;
    batch.add().body = frame;
    return true;
  }
  int batches = 0;

 private:
  Catalog catalog_;
};

TEST(SaveFolder, WritesFilesWholeOrNotAtAll) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("save-whole-{}", ::getpid());
  fs::create_directories(folder);
  SaveFolder saves;
  ASSERT_TRUE(saves.set_folder(folder.string()).ok());
  saves.set_overwrite(true);
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  Breaking first;
  const Status broken = saves.save("a.tf", first, {});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message, "no more");
  EXPECT_EQ(files(), 0);
  auto old = OutputFile::create((folder / "a.tf").string());
  ASSERT_TRUE(old.ok() && old->write(std::string_view("old")).ok() && old->commit().ok());
  Breaking second;
  EXPECT_FALSE(saves.save("a.tf", second, {}).ok());
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(fs::file_size(folder / "a.tf"), 3u);
  Endless third;
  const Status left = saves.save("a.tf", third, [&]() -> Status {
    if (third.batches < 3) return {};
    return {Errc::Target, "interrupted"};
  });
  ASSERT_FALSE(left.ok());
  EXPECT_EQ(left.error().message, "interrupted");
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(fs::file_size(folder / "a.tf"), 3u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tracewell::server
