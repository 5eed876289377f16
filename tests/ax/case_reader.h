// The cases of tests/ax/cases/*.txt. A file holds cases, one line a fact; what stands before
// the first `case` holds for all of its cases:
//
//   case NAME                  begins a case
//   code HEX                   the expression, spaces are free
//   purpose condition|action   what it is verified for; action when nothing is said
//   endian big, reg N VALUE, mem ADDRESS HEX, var N VALUE     the host
//   refused TEXT               what the verifier says; without this line it must accept
//   value NUMBER|none          the top of the stack at the end
//   fault TEXT                 why the run ends
//   log TEXT                   what the host is asked to do, in order (see recording_host.h)
//   text A; B; ...             the disassembly
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "recording_host.h"

namespace tracewell::ax {

struct Case {
  std::string where, name;
  RecordingHost host;
  std::vector<uint8_t> code;
  Purpose purpose = Purpose::Action;
  std::string refused;
  std::optional<std::string> value, fault, text;
  std::vector<std::string> log;
};

inline uint64_t number(std::string_view text) {
  const bool minus = text.starts_with('-');
  const auto value = parse_number(text.substr(minus ? 1 : 0));
  EXPECT_TRUE(value) << text;
  return minus ? -value.value_or(0) : value.value_or(0);
}

inline std::vector<uint8_t> bytes(std::string text) {
  std::erase(text, ' ');
  const auto result = from_hex(text);
  EXPECT_TRUE(result) << text;
  return result.value_or(std::vector<uint8_t>());
}

inline void read_host_line(RecordingHost& host, std::string_view key, std::string_view rest) {
  const std::string_view name = take_until(rest, ' ');
  if (key == "endian") host.order = name == "big" ? Endian::Big : Endian::Little;
  if (key == "reg") host.registers[static_cast<unsigned>(number(name))] = number(rest);
  if (key == "var") host.variables[static_cast<unsigned>(number(name))] = number(rest);
  if (key != "mem") return;
  uint64_t address = number(name);
  for (const uint8_t byte : bytes(std::string(rest))) host.memory[address++] = byte;
}

inline void read_line(Case& it, std::string_view key, std::string_view rest) {
  const std::string text(rest);
  if (key == "code") {
    it.code = bytes(text);
  } else if (key == "purpose") {
    it.purpose = rest == "condition" ? Purpose::Condition : Purpose::Action;
  } else if (key == "refused") {
    it.refused = text;
  } else if (key == "value") {
    it.value = text;
  } else if (key == "fault") {
    it.fault = text;
  } else if (key == "text") {
    it.text = text;
  } else if (key == "log") {
    it.log.push_back(text);
  } else {
    EXPECT_TRUE(key == "endian" || key == "reg" || key == "mem" || key == "var") << key;
    read_host_line(it.host, key, rest);
  }
}

inline std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const auto& entry :
       std::filesystem::directory_iterator(TRACEWELL_SOURCE_DIR "/tests/ax/cases")) {
    std::ifstream file(entry.path());
    Case common;
    bool began = false;
    std::string line;
    for (int row = 1; std::getline(file, line); ++row) {
      if (line.empty() || line[0] == '#') continue;
      std::string_view rest = line;
      const std::string_view key = take_until(rest, ' ');
      if (key == "case") {
        cases.push_back(common);
        cases.back().name = rest;
        cases.back().where = fmt::format("{}:{}", entry.path().filename().string(), row);
        began = true;
      } else {
        read_line(began ? cases.back() : common, key, rest);
      }
    }
  }
  return cases;
}

}  // namespace tracewell::ax
