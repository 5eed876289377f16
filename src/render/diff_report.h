// What `diff` tells, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/diff_words.h"
#include "model/catalog.h"
#include "timeline/diff/diff.h"

namespace tracewell::render {

/// `catalog` is A's: names of registers, byte order. `first`: nobody looked further than that.
std::string diff_text(const timeline::DiffReport& report, const Catalog& catalog,
                      const DiffWords& words, bool first);
std::string diff_json(const timeline::DiffReport& report, const Catalog& catalog,
                      const DiffWords& words);

/// A value as one number, 0x…; "unknown" when it is empty.
std::string value_text(const std::vector<uint8_t>& value, Endian endian);
/// Of a loop that ran more often in one trace, if only because steps are missing.
bool is_loop(const timeline::Difference& one);
/// Which bits of eflags these are: "ZF SF".
std::string flag_names(uint64_t bits);

}  // namespace tracewell::render
