// Values of an event under names: none may hide another.
#include "report/fields.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sanitized.h"

namespace tracewell::report {
namespace {

/// NAME=0, NAME=1, … of these names, as a template writes them.
std::vector<Field> numbered(const std::vector<std::string>& names) {
  std::string text;
  std::vector<TextSpan> literals;
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t begin = text.size();
    text += fmt::format(" {}=", names[i]);
    literals.push_back({begin, text.size()});
    text += fmt::format("{}", i);
  }
  return fields_of(text, literals);
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const Field& field : numbered(names))
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", field.name, field.value);
  return out;
}

TEST(Fields, LaterOnesOfANameAreNumbered) {
  EXPECT_EQ(joined({"a", "b", "a", "a", "b"}), "a=0 b=1 a_2=2 a_3=3 b_2=4");
}

TEST(Fields, NumberedNamesAreNoneThatTheTemplateHas) {
  EXPECT_EQ(joined({"a", "a_2", "a"}), "a=0 a_2=1 a_3=2");
  EXPECT_EQ(joined({"a", "a", "a_2"}), "a=0 a_3=1 a_2=2");  // it comes later
  EXPECT_EQ(joined({"a", "a", "a", "a_3", "a_2", "a"}), "a=0 a_4=1 a_5=2 a_3=3 a_2=4 a_6=5");
  EXPECT_EQ(joined({"a", "a", "a_2", "a_2", "a_2_2"}), "a=0 a_3=1 a_2=2 a_2_3=3 a_2_2=4");
  EXPECT_EQ(joined({"", "value_2", ""}), "value=0 value_2=1 value_3=2");
}

// Each equal name would go through all numbers that are taken, were it to begin at 2 again.
TEST(Fields, ManyOfANameTakeTimeInProportion) {
  constexpr size_t kEach = 50000 / tracewell::test::kEach;
  std::vector<std::string> names(kEach, "a");
  for (size_t i = 0; i < kEach; ++i) names.push_back(fmt::format("a_{}", i + 2));
  const std::vector<Field> fields = numbered(names);
  ASSERT_EQ(fields.size(), 2 * kEach);
  std::set<std::string_view> different;
  for (const Field& field : fields) different.insert(field.name);
  EXPECT_EQ(different.size(), fields.size());
  EXPECT_EQ(fields[kEach - 1].name, fmt::format("a_{}", 2 * kEach));
  EXPECT_EQ(fields.back().name, fmt::format("a_{}", kEach + 1));
}

}  // namespace
}  // namespace tracewell::report
