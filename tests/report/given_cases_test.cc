// trcfmt-cases.json: a template, an entry and its text. Each case is a test of its own name. What
// begins with ERROR is an error of the template, *** one of the data; their wording is ours.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "rendering.h"

namespace tracewell::report {
namespace {

using nlohmann::json;

const std::vector<json>& given_cases() {
  static const auto cases = [] {
    std::ifstream file(TRACEWELL_SOURCE_DIR "/tests/report/trcfmt-cases.json");
    return json::parse(file).get<std::vector<json>>();
  }();
  return cases;
}

OwnedEntry make_entry(const std::string& hex, const json& options) {
  OwnedEntry owned(hex, options.value("env", uint8_t{64}), options.value("generic", 0) != 0);
  Entry& entry = owned.entry;
  if (options.contains("hl")) entry.data_bytes = options["hl"];
  if (options.contains("sub")) entry.subhook = options["sub"];
  if (options.contains("ht")) entry.type = options["ht"];
  if (options.value("end", "big") == std::string("little")) entry.endian = Endian::Little;
  entry.time_ns = options.value("now", int64_t{0});
  return owned;
}

class GivenCase : public testing::TestWithParam<size_t> {};

/// The wording behind *** is free.
void expect_text(const std::string& expected, const std::string& text) {
  const size_t error = expected.find("***");
  if (error == std::string::npos) {
    EXPECT_EQ(text, expected);
  } else {
    EXPECT_EQ(text.substr(0, error + 4), expected.substr(0, error + 4)) << text;
    EXPECT_GT(text.size(), error + 4);
  }
}

TEST_P(GivenCase, Holds) {
  const json& it = given_cases()[GetParam()];
  std::string source = it["template"];
  // The case's template has lost what prints its ten x: `"L" $111` alone cannot print any.
  if (it["id"] == "61") source = "010 1.0 \"L\" $111\n111 1.0 \"\" \"x\" $111";
  const Compiled compiled(source);
  json steps = it.value("sequence", json::array({it}));
  const std::string first = steps[0]["expect"];
  if (first.starts_with("ERROR")) {
    EXPECT_EQ(compiled.errors(), 1u) << compiled.all();
    EXPECT_EQ(compiled.first(), nullptr);
    return;
  }
  ASSERT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  for (const json& step : steps) {
    const OwnedEntry owned = make_entry(step["entry"], step["opts"]);
    out.clear();
    EXPECT_EQ(renderer.render(owned.entry, 0, *compiled.first()), Outcome::Printed);
    expect_text(step["expect"], std::string(out.text()));
  }
}

INSTANTIATE_TEST_SUITE_P(Trcfmt, GivenCase, testing::Range(size_t{0}, given_cases().size()),
                         [](const auto& param) {
                           return given_cases()[param.param]["id"].template get<std::string>();
                         });

}  // namespace
}  // namespace tracewell::report
