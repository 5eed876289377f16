// What repairing leaves: a file that x64dbg opens, with everything that could be read, and that
// stays as it is when it is repaired again.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formats/trace64/random_files.h"
#include "formats/trace64/sums.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

/// Reads as strictly as x64dbg does: no id that the flag denies, no block beyond its limits, dumps
/// where its pages begin. Written from the description of the format, like the model of recorders.
/// `unusual`: takes what that allows and x64dbg does not, more than 32 entries and no opcode.
class StrictReader {
 public:
  StrictReader(const std::string& bytes, bool unusual) : bytes_(bytes), unusual_(unusual) {
    read();
  }
  size_t steps = 0;
  std::string error;

 private:
  uint64_t number(size_t at, size_t size) const {
    return load_uint(as_bytes(bytes_).data() + at, size, Endian::Little);
  }
  bool has(size_t at, uint64_t size) { return at + size <= bytes_.size(); }
  std::string fail(const std::string& why, size_t at) {
    return fmt::format("{} at {:#x}, step {}", why, at, steps);
  }
  void read() {
    if (bytes_.substr(0, 4) != "TRAC") return void(error = "magic");
    const uint64_t length = number(4, 4);
    if (!has(8, length) || length > 102400) return void(error = "header length");
    const auto json = nlohmann::json::parse(bytes_.substr(8, length), nullptr, false);
    if (!json.is_object() || json.value("ver", 0) != 1 || !json.contains("compression") ||
        !json.contains("arch"))
      return void(error = "header");
    const bool wide = json["arch"] == "x64";
    for (size_t at = 8 + length; at < bytes_.size() && error.empty();) at = block(at, wide);
  }
  size_t block(size_t at, bool wide) {
    const size_t word = wide ? 8 : 4, words = wide ? 172 : 216;
    const uint64_t type = number(at, 1);
    if (type >= 0x80) {
      if (!has(at, 5) || !has(at + 5, number(at + 1, 4))) error = fail("user block", at);
      return at + 5 + number(at + 1, 4);
    }
    if (type != 0 || !has(at, 4)) error = fail("type", at);
    const size_t listed = number(at + 1, 1), entries = number(at + 2, 1);
    const uint64_t flags = number(at + 3, 1);
    if (listed > words || (entries > 32 && !unusual_)) error = fail("counts", at);
    if (((flags & 15) == 0 && !unusual_) || (flags & 0x70) != 0) error = fail("flags", at);
    size_t end = at + 4 + (flags >= 0x80 ? 4 : 0) + (flags & 15);
    size_t last = listed;
    for (size_t i = 0; i < listed && has(end + i, 1); ++i) last += number(end + i, 1);
    if (listed != 0 && last > words) error = fail("position", at);
    end += listed * (1 + word);
    size_t fresh = 0;
    for (size_t i = 0; i < entries && has(end + i, 1); ++i) {
      if (number(end + i, 1) > 1) error = fail("memory flags", at);
      fresh += number(end + i, 1) == 0;
    }
    end += entries * (1 + 2 * word) + fresh * word;
    if (end > bytes_.size()) error = fail("end", at);
    const bool full = listed == words;
    if (full && flags < 0x80) error = fail("dump without thread", at);
    if (full ? page_ > 512 : page_ == 0 || page_ >= 512) error = fail("page", at);
    page_ = full ? 1 : page_ + 1;
    ++steps;
    return end;
  }

  const std::string& bytes_;
  bool unusual_;
  size_t page_ = 0;  // steps since the last dump
};

/// Steps behind which something is lost.
std::set<uint64_t> losses(const std::string& bytes) {
  std::set<uint64_t> out;
  for (const uint64_t seq : ReadBack(bytes).lost)
    if (seq != 0) out.insert(seq - 1);
  return out;
}

std::string repaired(const std::string& bytes) {
  Opened opened(bytes, "trace64");
  EXPECT_TRUE(opened.source) << opened.error;
  return opened.source ? saved(*opened.source, {.compat = false, .sound = true, .style = ""}) : "";
}

/// (What is not known is zero in a dump.)
void expect_kept(const RegisterState& was, const RegisterState& is, const RegisterLayout& layout) {
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    if (!was.is_valid(i)) continue;
    const Register& one = layout.registers[i];
    EXPECT_TRUE(is.is_valid(i)) << one.name;
    EXPECT_TRUE(std::equal(is.block.begin() + one.offset,
                           is.block.begin() + one.offset + one.size_bytes,
                           was.block.begin() + one.offset))
        << one.name;
  }
}

/// (Which registers a session's last step changes is lost where that becomes a dump.)
std::vector<std::pair<uint32_t, std::string>> values_of(const Known& step) {
  auto out = step.changes;
  std::erase_if(out, [](const auto& one) { return one.second.empty(); });
  return out;
}

void expect_repaired(const std::string& bytes) {
  const std::string out = repaired(bytes);
  Opened before(bytes, "trace64"), after(out, "trace64");
  const bool unusual = std::ranges::any_of(before.problems->kept(), [](const Problem& one) {
    return one.code == "no-opcode" || one.code == "many-accesses";
  });
  const StrictReader strict(out, unusual);
  EXPECT_EQ(strict.error, "");
  ASSERT_TRUE(after.source) << after.error;
  const auto lost = losses(bytes);
  const std::vector<Known> was = all_steps(*before.source), is = all_steps(*after.source);
  EXPECT_EQ(after.problems->count(Problem::Severity::Warning), 0u);
  EXPECT_EQ(strict.steps, was.size());
  ASSERT_EQ(is.size(), was.size());
  for (size_t i = 0; i < is.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(is[i].tid, was[i].tid);
    EXPECT_EQ(is[i].pc, was[i].pc);
    EXPECT_EQ(is[i].opcode, was[i].opcode);
    expect_kept(was[i].before, is[i].before, before.source->catalog().registers);
    if (lost.contains(i)) continue;  // where nothing marks the loss, the next step follows this one
    EXPECT_EQ(is[i].after_known, was[i].after_known);
    EXPECT_TRUE(values_of(is[i]) == values_of(was[i]));
    EXPECT_TRUE(is[i].memory == was[i].memory);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(repaired(out) == out) << "repairing again changes something";
}

class Trace64Repair : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Trace64Repair, AnyDamage) {
  const uint32_t seed = GetParam();
  const std::string bytes = random_file(seed);
  expect_repaired(bytes);
  for (uint32_t i = 0; i < 8 && !HasFailure(); i += tracewell::test::kEach) {
    SCOPED_TRACE(fmt::format("damage {}", i));
    expect_repaired(damaged(bytes, seed * 32 + i));
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Trace64Repair, ::testing::Range(0u, 12u));

/// One kind of damage each, so that none hides behind another.
TEST(Trace64Repairs, EachKind) {
  const auto moments = windows_program(2, true, 3, 10, 1400);
  const std::string good = file_of(true, record(moments, {true, false}));
  const std::string one_block = RawBlock{}.bytes();
  const std::string user = "\x91" + le(3, 4) + "abc";
  const std::string first = full_block(1, {{16, 0x10}}).bytes();
  RawBlock odd;
  odd.words = {{16, 0x11}};
  odd.more_flags = 0x30;
  odd.entries = {{0x10, 1, 2, 0x40}};
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"hidden ids", file_of(true, record(moments, {true, true}))},
      {"cut", good.substr(0, good.size() - 7)},
      {"zeros behind", good + std::string(5000, '\0')},
      {"hole of zeros", std::string(good).replace(9000, 4000, 4000, '\0')},
      {"hole of ones", std::string(good).replace(9000, 4000, 4000, '\xff')},
      {"bytes missing", std::string(good).erase(20000, 77)},
      {"bytes more", std::string(good).insert(20000, 77, '\x05')},
      {"undefined type", file_of(true, first + one_block + "\x05\x06\x07" + first + one_block)},
      {"reserved flags", file_of(true, first + odd.bytes() + one_block)},
      {"user blocks", file_of(true, user + first + user + one_block + user)},
      {"user block cut", file_of(true, first + one_block + user.substr(0, 6))},
      {"zeros for steps", file_of(true, first + std::string(400, '\0') + first + one_block)},
      {"garbage first", file_of(true, std::string(300, '\x07') + first + one_block)},
      {"garbage only", file_of(true, std::string(3000, '\x07'))},
      {"no blocks", file_of(true, "")},
      {"no first dump", file_of(true, one_block + odd.bytes() + one_block)},
      {"no arch", head(R"({"ver":1,"compression":""})") + first + one_block},
      {"no compression", head(R"({"ver":1,"arch":"x64"})") + first + one_block},
      {"large header", head(R"({"ver":1,"arch":"x64","compression":"","x":")" +
                            std::string(20000, 'a') + "\"}") + first + one_block},
      {"odd hash", head(R"({"ver":1,"arch":"x64","compression":"","hash":"12"})") + first}};
  for (const auto& [name, bytes] : kinds) {
    SCOPED_TRACE(name);
    expect_repaired(bytes);
  }
}

TEST(Trace64Repairs, Samples) {
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    SCOPED_TRACE(name);
    const std::string bytes =
        read_file(fmt::format("{}/tests/formats/data/{}.trace64", TRACEWELL_SOURCE_DIR, name));
    expect_repaired(bytes);
    for (uint32_t seed = 0; seed < 10; seed += static_cast<uint32_t>(tracewell::test::each_slow()))
      expect_repaired(damaged(bytes, seed));
  }
}

}  // namespace
}  // namespace tracewell::formats::test
