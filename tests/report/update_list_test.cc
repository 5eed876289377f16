// Lists of changes of templates: their files, and the hooks that one is made of.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/templates/template_update.h"

namespace tracewell::report {
namespace {

TEST(UpdateList, IsFoundWithAndWithoutItsEnding) {
  std::string folder = testing::TempDir() + "list.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/new.trc") << "* /etc/trcfmt\n- 010\n";
  for (const char* name : {"/new", "/new.trc"}) {
    const auto list = read_update_list(folder + name);
    ASSERT_TRUE(list.ok()) << name;
    EXPECT_EQ(list->path, folder + "/new.trc");
    EXPECT_EQ(list->undo_path, folder + "/new.undo.trc");
    EXPECT_EQ(list->text, "* /etc/trcfmt\n- 010\n");
    EXPECT_EQ(list->facts.kind, FileFacts::Kind::Regular);
  }
  EXPECT_FALSE(read_update_list(folder + "/other").ok());
  std::filesystem::remove_all(folder);
}

TEST(UpdateList, IsMadeOfHooks) {
  EXPECT_EQ(*template_hooks({"010", "1234"}, "-x"), (std::vector<uint16_t>{0x0100, 0x1234}));
  const auto wrong = template_hooks({"010", "01"}, "-x");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "-x: '01' is no hook: 3 or 4 hex digits");
}

TEST(UpdateList, CompressedTemplatesAreNamed) {
  EXPECT_TRUE(check_uncompressed("* /etc/trcfmt\n", "trcfmt").ok());
  EXPECT_EQ(check_uncompressed("\x1f\x9d\x90", "trcfmt").error().code, Errc::Unsupported);
}

}  // namespace
}  // namespace tracewell::report
