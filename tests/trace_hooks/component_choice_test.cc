// Which components patterns mean, what ctctrl's words do to them, and rules for those that come.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hooks/components/component_choice.h"
#include "hooks/components/component_rules.h"
#include "hooks/words/component_words.h"

namespace tracewell::hooks::test {
namespace {

Component component(const char* name, const char* type, const char* process) {
  tracewell_registration registered = {};
  std::strcpy(registered.name, name);
  std::strcpy(registered.type, type);
  std::shared_ptr<uint8_t> page(new uint8_t[sizeof(tracewell_component)](),
                                std::default_delete<uint8_t[]>());
  return {std::move(page), process, 0, registered, 0, 0};
}

std::string chosen_names(const ComponentChoice& choice) {
  const std::vector<Component> all = {component("server", "daemon", "10"),
                                      component("server.net", "daemon", "10"),
                                      component("server.net", "other", "11"),
                                      component("tool", "other", "12")};
  std::string out;
  for (const Component& one : choice.of(all))
    out += std::to_string(one.pid()) + ":" + one.name() + " ";
  return out;
}

TEST(ComponentChoice, MeansThoseOfItsPatterns) {
  EXPECT_EQ(chosen_names({}), "10:server 10:server.net 11:server.net 12:tool ");
  EXPECT_EQ(chosen_names({.names = {"server.*"}, .aliases = {}, .types = {}}),
            "10:server.net 11:server.net ");
  EXPECT_EQ(chosen_names({.names = {}, .aliases = {}, .types = {"other"}}),
            "11:server.net 12:tool ");
  EXPECT_EQ(chosen_names({.names = {"server"}, .aliases = {}, .types = {}, .children = true}),
            "10:server 10:server.net 11:server.net ");
  EXPECT_EQ(chosen_names({.names = {"server.net"}, .aliases = {}, .types = {}, .parents = true}),
            "10:server 10:server.net 11:server.net ");
  EXPECT_FALSE((ComponentChoice{.names = {"a b"}, .aliases = {}, .types = {}}).check().ok());
  EXPECT_TRUE((ComponentChoice{.names = {"a*"}, .aliases = {}, .types = {}}).check().ok());
}

TEST(ComponentWords, SayWhatChanges) {
  const auto change = component_change({"memtraceon", "systracelevel=5", "memtracebufsize=1m"});
  ASSERT_TRUE(change.ok());
  EXPECT_EQ(change->memory, ComponentChange::Memory::On);
  EXPECT_EQ(change->system_level, 5u);
  EXPECT_EQ(change->buffer_bytes, uint64_t{1} << 20);
  EXPECT_FALSE(change->system || change->memory_level);
  EXPECT_EQ(component_change({"systracemax"})->system_level, 9u);
  EXPECT_EQ(component_change({})->rule(), "");
  for (const char* word : {"memtrace", "systracesuspend", "memtracelevel=10", "on"})
    EXPECT_FALSE(component_change({word}).ok()) << word;
}

TEST(ComponentRules, AreAddedAndForgotten) {
  std::string folder = testing::TempDir() + "rules.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  setenv("TRACEWELL_COMPONENTS", (folder + "/components").c_str(), 1);
  BelievedFiles files(Work{});
  EXPECT_FALSE(*component_rules(true, files)) << "there is no file";
  const ComponentChoice server{.names = {"server"}, .aliases = {}, .types = {}, .children = true};
  const ComponentChoice others{.names = {}, .aliases = {}, .types = {"other"}};
  const ComponentChange off = *component_change({"systraceoff"});
  ASSERT_TRUE(add_component_rules(server, off, true).ok());
  ASSERT_TRUE(add_component_rules(others, off, true).ok());
  EXPECT_EQ(**component_rules(true, files),
            "c server system=0\nc server.* system=0\nt other system=0\n");
  ASSERT_TRUE(forget_component_rules(others, true).ok());
  EXPECT_EQ(**component_rules(true, files), "c server system=0\nc server.* system=0\n");
  ASSERT_TRUE(forget_component_rules({}, true).ok());
  EXPECT_EQ(**component_rules(true, files), "");
  unsetenv("TRACEWELL_COMPONENTS");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tracewell::hooks::test
