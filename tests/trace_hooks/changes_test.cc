// What users ask to be changed: event groups, defaults, and files that they can change back.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hooks/control/undoable_change.h"
#include "hooks/rings/ring_rescue.h"
#include "hooks/words/default_words.h"
#include "hooks/words/group_words.h"

namespace tracewell::hooks::test {
namespace {

using Kind = GroupChange::Kind;

class Changes : public testing::Test {
 protected:
  Changes() {
    std::string name = testing::TempDir() + "changes.XXXXXX";
    folder_ = mkdtemp(name.data());
    setenv("TRACEWELL_EVENT_GROUPS", at("evgrp").c_str(), 1);
    setenv("TRACEWELL_DEFAULTS", at("trace.conf").c_str(), 1);
  }
  ~Changes() override {
    unsetenv("TRACEWELL_EVENT_GROUPS");
    unsetenv("TRACEWELL_DEFAULTS");
    std::filesystem::remove_all(folder_);
  }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string text_of(const std::string& name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string wrong(const GroupChange& change) {
    const Status status = change_hook_groups(change, files_);
    return status.ok() ? "" : status.error().message;
  }

  std::string folder_;
  BelievedFiles files_{Work{}};
};

TEST_F(Changes, OfEventGroups) {
  EXPECT_EQ(wrong({Kind::Add, {"net"}, "the network", "01,0234"}), "");
  EXPECT_EQ(wrong({Kind::Update, {"net"}, {}, "02"}), "");
  EXPECT_EQ(text_of("evgrp"), "net - the network (normal) \"02\"\n");
  EXPECT_EQ(named_hook_groups({"net"}, files_)->size(), 1u);
  EXPECT_EQ(named_hook_groups({}, files_)->size(), 2u) << "and the one that is always there";
  EXPECT_EQ(named_hook_groups({"file"}, files_).error().code, Errc::NotFound);

  EXPECT_NE(wrong({Kind::Add, {"net"}, {}, "02"}).find("is there already"), std::string::npos);
  EXPECT_NE(wrong({Kind::Add, {"facility"}, {}, "02"}).find("reserved"), std::string::npos);
  EXPECT_NE(wrong({Kind::Add, {"a b"}, {}, "02"}).find("no name of a group"), std::string::npos);
  EXPECT_EQ(wrong({Kind::Add, {"file"}, {}, {}}), "which hooks? -h is missing");
  EXPECT_EQ(wrong({Kind::Update, {"net"}, {}, {}}), "-u needs -d, -h or both");
  EXPECT_EQ(wrong({Kind::Update, {"net"}, "\"", {}}), "-d: a line of text without quotes");
  EXPECT_EQ(wrong({Kind::Remove, {"net"}, "x", {}}), "-r takes neither -d nor -h");
  EXPECT_EQ(wrong({Kind::Remove, {}, {}, {}}), "which group?");
  EXPECT_NE(wrong({Kind::Remove, {"net", "file"}, {}, {}}), "");
  EXPECT_EQ(text_of("evgrp"), "net - the network (normal) \"02\"\n") << "all or nothing";
  EXPECT_EQ(wrong({Kind::Remove, {"net"}, {}, {}}), "");
  EXPECT_EQ(text_of("evgrp"), "");
}

TEST_F(Changes, OfDefaults) {
  DefaultWords words;
  EXPECT_FALSE(words.any());
  words.log = at("mine");
  words.buffer_size = "1m";
  words.log_size = "4m";
  EXPECT_TRUE(words.any());
  ASSERT_TRUE(change_defaults(words).ok());
  const auto usual = usual_defaults(files_);
  ASSERT_TRUE(usual.ok());
  EXPECT_EQ(usual->buffer_bytes, uint64_t{1} << 20);
  EXPECT_EQ(usual->log_bytes, uint64_t{4} << 20);
  words.buffer_size = "1";
  EXPECT_FALSE(change_defaults(words).ok());
  DefaultWords none;
  none.restore = true;
  ASSERT_TRUE(change_defaults(none).ok());
  EXPECT_EQ(text_of("trace.conf"), "");
}

TEST_F(Changes, CanBeTakenBack) {
  std::ofstream(at("list")) << "";
  const FileFacts source = (*InputFile::open(at("list")))->facts();
  const auto change = [&](const std::string& text) {
    return change_undoably(at("file"), at("undo"), source,
                           [&](const std::string& before) -> Result<UndoableText> {
                             return UndoableText{text, "back to '" + before + "'"};
                           });
  };
  ASSERT_TRUE(change("new").ok());
  ASSERT_TRUE(change("newer").ok());
  EXPECT_EQ(text_of("undo"), "back to 'new'");
  ASSERT_TRUE(change("newer").ok());
  EXPECT_EQ(text_of("undo"), "back to 'new'") << "nothing was changed";
  std::filesystem::remove(at("undo"));
  std::filesystem::create_directory(at("undo"));
  EXPECT_EQ(change("newest").error().code, Errc::InvalidArgument);
  EXPECT_EQ(text_of("file"), "newer") << "what cannot be taken back is not done";
}

TEST_F(Changes, RescueNeedsRings) {
  std::filesystem::create_directory(at("log"));
  RescueWords words;
  words.path = at("log");
  words.channel = 3;
  EXPECT_FALSE(rescue_rings(words, "trcdead", {}).ok());
  EXPECT_FALSE(std::filesystem::exists(at("log/metadata")));
}

}  // namespace
}  // namespace tracewell::hooks::test
