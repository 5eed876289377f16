// JSON trees are those of nlohmann's parser, in another time.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/json/tree.h"
#include "sanitized.h"

namespace tracewell::formats::json {
namespace {

std::optional<Json> tree_by_nlohmann(std::string_view text) {
  Json tree = Json::parse(text.begin(), text.end(), nullptr, false);
  return tree.is_discarded() ? std::nullopt : std::optional(std::move(tree));
}

/// Text that is JSON, most often, and whose objects have few names.
class RandomJson {
 public:
  explicit RandomJson(uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string out = value(0);
    if (below(4) == 0) out.erase(below(out.size()), 1 + below(3));
    return out;
  }

 private:
  size_t below(size_t end) { return random_() % end; }

  std::string value(size_t depth) {
    static constexpr std::string_view kLeaves[] = {
        "null", "true", "false", "0", "-1", "18446744073709551615", "-9223372036854775808",
        "1e400", "1.5e3", R"("")", R"("a\u00e9\n")", "\"\xff\"", "{}", "[]"};
    const size_t kind = depth > 3 ? 0 : below(4);
    if (kind < 2) return std::string(kLeaves[below(std::size(kLeaves))]);
    const size_t members = below(depth == 0 ? 40 : 6);
    std::string out(1, kind == 2 ? '{' : '[');
    for (size_t i = 0; i < members; ++i) {
      if (i != 0) out += ',';
      if (kind == 2) out += fmt::format("\"{}\":", name());
      out += value(depth + 1);
    }
    return out + (kind == 2 ? '}' : ']');
  }
  std::string name() {
    return below(3) == 0 ? std::string(below(4), 'a') : std::to_string(below(30));
  }

  std::mt19937 random_;
};

TEST(JsonTree, IsTheOneOfNlohmannsParser) {
  size_t trees = 0, others = 0;
  for (uint32_t seed = 0; seed < 6000; seed += test::kEach) {
    const std::string text = RandomJson(seed).text();
    const auto built = build_tree(text), expected = tree_by_nlohmann(text);
    ASSERT_EQ(built.has_value(), expected.has_value()) << text;
    ++(built ? trees : others);
    if (built) {
      ASSERT_EQ(*built, *expected) << text;
      ASSERT_EQ(built->type(), expected->type()) << text;
    }
  }
  EXPECT_GT(trees, 100u);
  EXPECT_GT(others, 20u);
}

TEST(JsonTree, OfANameThatComesAgainTheLastValueCounts) {
  const auto tree = build_tree(R"({"a":1,"b":{"x":1},"a":[2],"c":3,"b":4,"a":5})");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->dump(), R"({"a":5,"b":4,"c":3})");
}

double thread_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// So many members; the last quarter of them has names of the first third.
std::string many_members(int count) {
  const int names = count / 4 * 3;
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}\"a name that begins as the others do {}\":{}", i == 0 ? "" : ",",
                        i % names, i);
  return text + '}';
}

/// The best of three.
double seconds_to_build(const std::string& text) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double before = thread_seconds();
    EXPECT_TRUE(build_tree(text));
    const double took = thread_seconds() - before;
    best = i == 0 ? took : std::min(best, took);
  }
  return best;
}

/// Each name is compared with few others: with all before it, twice the text takes four times as
/// long.
TEST(JsonTree, ManyMembersTakeTheTimeOfTheirText) {
  const std::string text = many_members(40'000);
  EXPECT_LT(seconds_to_build(text), 3.2 * seconds_to_build(many_members(20'000)));
  const auto tree = build_tree(text);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->size(), 30'000u);
  EXPECT_EQ(tree->front(), 30'000);
  EXPECT_EQ(tree->back(), 29'999);
}

}  // namespace
}  // namespace tracewell::formats::json
