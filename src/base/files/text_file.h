// Small files of text, in a copy: who may write to a file may do so while it is parsed, and a
// parser looks at the same byte more than once.
#pragma once

#include <cstdint>
#include <string>

#include "base/files/file.h"

namespace tracewell {

/// Far more than people and programs write of templates, lists, groups and rules.
constexpr uint64_t kTextFileMax = uint64_t{64} << 20;

/// What is in the file now. Limit: it is larger.
Result<std::string> text_of(const InputFile& file, uint64_t bytes_max = kTextFileMax);

/// Of what somebody named; "-" is standard input.
Result<std::string> read_text_file(const std::string& path);

}  // namespace tracewell
