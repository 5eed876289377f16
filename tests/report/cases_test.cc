// Runs every case of tests/report/cases/*.txt. A file holds cases, one line a fact:
//
//   case NAME                 begins a case; "code X: …" and "macro $D1: …" are looked for by name
//   template TEXT             a line of the template file as is; `|` at its end keeps blanks
//   entry HEX                 hook word and data; blanks are free
//   env 32, generic, endian little, set FIELD VALUE        what the entry is, before `entry`
//   text TEXT                 a line of what comes out, or
//   nothing, stops            $SKIP, $STOP
//   error|warning LINE:COLUMN CODE     what is said of the template, all of it, in order
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/text.h"
#include "rendering.h"

namespace tracewell::report {
namespace {

struct Case {
  std::string where, name, source, hex;
  uint8_t environment_bits = 64;
  bool generic = false, little = false;
  std::map<std::string, std::string, std::less<>> fields;
  std::optional<std::string> text;
  std::optional<Outcome> outcome;
  std::vector<std::string> said;
};

void read_line(Case& it, std::string_view key, std::string rest) {
  if (key == "template") {
    if (rest.ends_with('|')) rest.pop_back();
    it.source += rest + "\n";
  } else if (key == "entry") {
    std::erase(rest, ' ');
    it.hex = rest;
  } else if (key == "env") {
    it.environment_bits = rest == "32" ? 32 : 64;
  } else if (key == "generic") {
    it.generic = true;
  } else if (key == "endian") {
    it.little = rest == "little";
  } else if (key == "set") {
    std::string_view value = rest;
    const std::string_view field = take_until(value, ' ');
    it.fields.emplace(field, value);
  } else if (key == "text") {
    it.text = it.text ? *it.text + "\n" + rest : rest;
  } else if (key == "nothing" || key == "stops") {
    it.outcome = key == "stops" ? Outcome::Stopped : Outcome::Skipped;
  } else {
    EXPECT_TRUE(key == "error" || key == "warning") << it.where << ": " << key;
    it.said.push_back(fmt::format("{} {}", key, rest));
  }
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const auto& entry :
       std::filesystem::directory_iterator(TRACEWELL_SOURCE_DIR "/tests/report/cases")) {
    std::ifstream file(entry.path());
    std::string line;
    for (int row = 1; std::getline(file, line); ++row) {
      if (line.empty() || line[0] == '#') continue;
      std::string_view rest = line;
      const std::string_view key = take_until(rest, ' ');
      if (key == "case") {
        cases.emplace_back().name = rest;
        cases.back().where = fmt::format("{}:{}", entry.path().filename().string(), row);
      } else {
        EXPECT_FALSE(cases.empty());
        if (!cases.empty()) read_line(cases.back(), key, std::string(rest));
      }
    }
  }
  return cases;
}

struct Paths : ProcessPaths {
  std::string_view path_of(uint64_t pid) const override { return pid == 7 ? "/bin/seven" : ""; }
};

void set_field(std::string_view field, std::string_view value, Entry& entry, LogFacts& facts) {
  const uint64_t number = parse_number(value).value_or(0);
  if (field == "tid") {
    entry.tid = number;
  } else if (field == "pid") {
    entry.pid = number;
  } else if (field == "cpu") {
    entry.cpu = static_cast<int32_t>(number);
  } else if (field == "priority") {
    entry.priority = number;
  } else if (field == "time_ns") {
    entry.time_ns = static_cast<int64_t>(number);
  } else if (field == "log_offset") {
    entry.log_offset = number;
  } else if (field == "process_path") {
    entry.process_path = value;
  } else if (field == "system_call") {
    entry.system_call = value;
  } else if (field == "log") {
    facts.name = value;
  } else if (field == "kernel_bits") {
    facts.kernel_bits = static_cast<uint8_t>(number);
  } else if (field == "cpus") {
    facts.cpus = static_cast<uint32_t>(number);
  } else if (field == "traced_cpus") {
    facts.traced_cpus = static_cast<uint32_t>(number);
  } else if (field == "reported_cpus") {
    facts.reported_cpus = static_cast<uint32_t>(number);
  } else if (field == "buffers") {
    facts.buffers = static_cast<uint32_t>(number);
  } else if (field == "address") {
    facts.address = static_cast<uint32_t>(number);
  } else {
    ADD_FAILURE() << "no field " << field;
  }
}

void check(const Case& it) {
  const Compiled compiled(it.source);
  std::vector<std::string> said;
  for (const Diagnostic& one : compiled.said)
    said.push_back(fmt::format("{} {}:{} {}",
                               one.severity == Diagnostic::Severity::Error ? "error" : "warning",
                               one.place.line, one.place.column, one.code));
  EXPECT_EQ(said, it.said) << compiled.all();
  EXPECT_TRUE(it.text || it.outcome || !it.said.empty()) << "the case expects nothing";
  if (!it.text && !it.outcome) return;

  OwnedEntry owned(it.hex, it.environment_bits, it.generic);
  EXPECT_FALSE(owned.bytes.empty()) << "no entry";
  if (it.little) owned.entry.endian = Endian::Little;
  const Paths paths;
  LogFacts facts;
  facts.paths = &paths;
  for (const auto& [field, value] : it.fields) set_field(field, value, owned.entry, facts);
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  EXPECT_EQ(renderer.render(owned.entry, 0), it.outcome.value_or(Outcome::Printed));
  EXPECT_EQ(std::string(out.text()), it.text.value_or(""));
}

TEST(ReportCases, AllHold) {
  const std::vector<Case> cases = read_cases();
  EXPECT_GT(cases.size(), 100u);
  for (const Case& it : cases) {
    SCOPED_TRACE(it.where + ": " + it.name);
    check(it);
  }
}

}  // namespace
}  // namespace tracewell::report
