// Plays every tests/agent/*.rsp, and sees to it that they leave no packet out.
#include "agent/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "agent/packets.h"

namespace tracewell::agent::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> transcripts() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(TRACEWELL_SOURCE_DIR "/tests/agent"))
    if (entry.path().extension() == ".rsp") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Transcripts, SayWhatHappens) {
  ASSERT_FALSE(transcripts().empty());
  for (const fs::path& path : transcripts()) {
    const std::string expected = read(path);
    Player player;
    const std::string actual = player.play(expected);
    EXPECT_EQ(player.problem(), "") << path << ": a line that makes no sense";
    if (player.problem().empty() && actual != expected && std::getenv("TRACEWELL_RENEW"))
      std::ofstream(path, std::ios::binary) << actual;
    else
      EXPECT_EQ(actual, expected) << path;
  }
}

/// What was done or told before the reply.
bool is_aside(std::string_view line) {
  for (std::string_view mark : {"== ", ">> ", "** ", "|| "})
    if (line.starts_with(mark)) return true;
  return false;
}

/// Each packet is answered with something at least once, and refused at least once where it has
/// anything to parse.
TEST(Transcripts, LeaveNoPacketOut) {
  // What has nothing in it that could be wrong, or is taken whatever there is.
  std::set<std::string_view> refused = {"qSymbol", "extended_mode", "stop_reason", "k", "R"};
  std::set<std::string_view> answered;
  for (const fs::path& path : transcripts()) {
    const std::string text = read(path);
    const auto lines = split(text, '\n');
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
      if (!lines[i].starts_with("-> ")) continue;
      const PacketEntry* entry = find_packet(lines[i].substr(3));
      if (!entry) continue;
      if (lines[i + 1] != "<-") answered.insert(entry->identifier);
      size_t reply = i + 1;
      while (reply + 1 < lines.size() && is_aside(lines[reply])) ++reply;
      for (std::string_view refusal : {"<- E", "<- F-1"})
        if (lines[reply].starts_with(refusal)) refused.insert(entry->identifier);
    }
  }
  for (const PacketEntry& entry : packet_table()) {
    EXPECT_TRUE(answered.count(entry.identifier)) << "no transcript has " << entry.name;
    const bool has_a_body = entry.name.size() == 1 || entry.name != without_separators(entry.name);
    EXPECT_TRUE(refused.count(entry.identifier) || !has_a_body || entry.name == "vCont?")
        << "no transcript has a malformed " << entry.name;
  }
}

TEST(Packets, EachHasItsFile) {
  for (const PacketEntry& entry : packet_table())
    EXPECT_TRUE(fs::exists(fs::path(TRACEWELL_SOURCE_DIR "/src/agent/packets") /
                           (std::string(entry.identifier) + ".cc")))
        << entry.identifier;
}

TEST(Packets, TheLongestNameWins) {
  const auto name = [](std::string_view packet) -> std::string_view {
    const PacketEntry* entry = find_packet(packet);
    return entry ? entry->name : "unknown";
  };
  EXPECT_EQ(name("qC"), "qC");
  EXPECT_EQ(name("qCRC:0,1"), "qCRC:");
  EXPECT_EQ(name("qCfoo"), "unknown");
  EXPECT_EQ(name("vCont;c"), "vCont;");
  EXPECT_EQ(name("vCont?"), "vCont?");
  EXPECT_EQ(name("vContX"), "unknown");
  EXPECT_EQ(name("vMustReplyEmpty"), "unknown");
  EXPECT_EQ(name("qXfer:threads:read::0,fff"), "qXfer:threads:read:");
  EXPECT_EQ(name("qXfer:threads:write::0,fff"), "unknown");
  EXPECT_EQ(name("m0,1"), "m");
  EXPECT_EQ(name(""), "unknown");
}

}  // namespace
}  // namespace tracewell::agent::test
