// What `serve` makes of its command line.
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/options/option.h"
#include "cli/options/parse.h"
#include "cli/serve_options.h"

namespace tracewell::cli {
namespace {

Result<ServeOptions> parse(const std::vector<std::string>& words) {
  ServeOptions options;
  OptionTable table("serve", "");
  add_serve_options(table, options);
  TW_RETURN_IF_ERROR(parse_options(table, words));
  TW_RETURN_IF_ERROR(finish_serve_options(options));
  return options;
}

using Words = std::vector<std::string>;

TEST(ServeOptions, TheProgramsWordsAreItsOwn) {
  auto options = parse({"--once", ":1", "prog", "--once", "-x", "--", "--attach", "a b"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->once);
  EXPECT_FALSE(options->attach);
  EXPECT_EQ(options->comm, ":1");
  EXPECT_EQ(options->launch.argv, (Words{"prog", "--once", "-x", "--", "--attach", "a b"}));
}

TEST(ServeOptions, WrappersMayHaveOptions) {
  auto options = parse({"--debug", "--wrapper", "env", "-u", "HOME", "--", "--multi", "-", "prog"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->multi);
  EXPECT_EQ(options->launch.wrapper, (Words{"env", "-u", "HOME"}));
  EXPECT_EQ(options->comm, "-");
  EXPECT_EQ(options->launch.argv, Words{"prog"});
  EXPECT_FALSE(parse({"--wrapper", "env", ":1", "prog"}).ok());
  EXPECT_FALSE(parse({"--wrapper", "--", ":1", "prog"}).ok());
  EXPECT_FALSE(parse({"--wrapper", "env", "--", "--nonsense=1", ":1"}).ok());
}

TEST(ServeOptions, Flags) {
  auto options = parse({"--no-disable-randomization", "--no-startup-with-shell", "--debug=all",
                        "--remote-debug", "--debug-file=x", "--debug-format=none", ":1", "prog"});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->launch.disable_randomization);
  EXPECT_FALSE(options->launch.startup_with_shell);
  EXPECT_EQ(options->debug, "all");
  EXPECT_TRUE(options->remote_debug);
  EXPECT_EQ(options->debug_file, "x");
  auto defaults = parse({":1", "prog"});
  ASSERT_TRUE(defaults.ok());
  EXPECT_TRUE(defaults->launch.disable_randomization);
  EXPECT_TRUE(defaults->launch.startup_with_shell);
  EXPECT_EQ(defaults->debug, "");
}

TEST(ServeOptions, Attach) {
  auto options = parse({"--attach", ":1", "4711"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->pid, 4711);
  for (const Words& words : {Words{"--attach", ":1"}, Words{":1"}, Words{}, Words{"--multi"}})
    EXPECT_FALSE(parse(words).ok());
}

TEST(ServeOptions, PacketsToDisable) {
  EXPECT_EQ(parse({"--disable-packet", "qC,T", ":1", "prog"})->disabled,
            (std::set<std::string, std::less<>>{"qC", "Tstop"}));
  EXPECT_FALSE(parse({"--disable-packet", "bogus", ":1", "prog"}).ok());
}

}  // namespace
}  // namespace tracewell::cli
