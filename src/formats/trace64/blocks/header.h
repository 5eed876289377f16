// The head of an x64dbg trace: `TRAC`, a length, and that many bytes of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/problem.h"

namespace tracewell::formats::trace64 {

constexpr std::string_view kMagic = "TRAC";
constexpr uint32_t kHeaderJsonMax = 100 * 1024;     // x64dbg's limit since November 2025
constexpr uint32_t kOldHeaderJsonMax = 16 * 1024;   // and before

struct Header {
  std::optional<bool> wide;  // x64; none: the file does not say
  std::string path;          // of the program, UTF-8
  std::optional<uint64_t> hash;
  std::string json;          // as it stands in the file
  uint64_t blocks_at = 0;    // offset of the first block
};

/// Errors name the offset; odd things that x64dbg lets pass are told.
Result<Header> read_header(Bytes file, ProblemLog& problems);

/// Magic, length and JSON, compact and with x64dbg's keys in x64dbg's order.
std::string render_header(bool wide, std::optional<uint64_t> hash, std::string_view path);
/// The same around `json`, which is kept as it is.
std::string wrap_header(std::string_view json);
/// The same around `json` with these in it, where it does not say them itself.
std::string complete_header(std::string_view json, std::optional<uint64_t> hash,
                            std::string_view path);
/// Only what x64dbg knows, from `json`: for readers with small limits.
std::string plain_header(std::string_view json, bool wide);
/// The keys of `json` that a header (as made by one of these) does not have, in order.
std::vector<std::string> keys_not_in(std::string_view header, std::string_view json);

}  // namespace tracewell::formats::trace64
