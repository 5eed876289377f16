// Reading JSON values that may be anything: each getter says no instead of throwing. Only for
// the .cc files of formats that hold JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/json/tree.h"
#include "model/catalog.h"
#include "model/process.h"

namespace tracewell::formats::json {

/// A line of events. Limit: it nests deeper than 64, or has more than a million values.
Result<Json> parse_line(std::string_view text);
Result<Json> parse_line(std::string_view text, size_t values_max);

/// A whole document, of as many values more as it is long; nullopt for that, or what is not JSON.
std::optional<Json> parse(std::string_view text);

/// The member, or nullptr (also when `object` is none, or the member is null).
const Json* member(const Json& object, const char* key);

/// A JSON number, or a string "0x…" or of decimal digits.
std::optional<uint64_t> unsigned_number(const Json& value);
std::optional<int64_t> signed_number(const Json& value);
std::optional<bool> boolean(const Json& value);
/// A string, or {"hex":"…"} for what is not UTF-8.
std::optional<std::string> text(const Json& value);
/// A string of hex digits.
std::optional<std::vector<uint8_t>> bytes(const Json& value);

/// Objects as docs/formats/jsonl.md has them. A member whose value makes no sense is left out, and
/// `complain` gets its name.
using Complain = std::function<void(const char* key)>;
Module module_of(const Json& object, const Complain& complain);
Process process_of(const Json& object, const Complain& complain);

}  // namespace tracewell::formats::json
