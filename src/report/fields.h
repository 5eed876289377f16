// The text of an event taken apart into named values, for programs that read reports.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/render/line.h"

namespace tracewell::report {

struct Field {
  std::string name, value;
};

/// `literals`: the parts of `text` that are the template's own words; all others are data. Words
/// with a = or : in them begin a field: what stands before that is its name, and what comes up to
/// the next such words is its value ("Address=0x" and data: Address, 0x110000970). Data behind
/// other words are named by these, and "value" where there are none. Of several fields of one name
/// the later ones are called NAME_2, NAME_3 …, without the names that other fields have anyway: all
/// names differ.
std::vector<Field> fields_of(std::string_view text, std::span<const TextSpan> literals);

}  // namespace tracewell::report
