// Executed instructions as rows of chosen columns: a table for people, or JSON lines for scripts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "render/event_text.h"
#include "model/stream.h"

namespace tracewell::render {

/// The names of all columns.
std::vector<std::string> column_names();
/// A column for each name, in order. InvalidArgument for a name that is none.
Result<std::vector<int>> parse_columns(const std::vector<std::string>& names);

/// Those of columns that only an image fills, "symbol,source"; "" = there are none.
std::string image_columns(const std::vector<int>& columns);

struct StepRowsOptions {
  std::vector<int> columns;  // empty = all
  bool json = false;
};
/// Writes to standard output. What is no step has a line of its own, in JSON that of the format
/// jsonl; but notes of steps stand in their column, if that is there.
std::unique_ptr<Sink> step_rows(StepRowsOptions options, trace::AddressNames names);

}  // namespace tracewell::render
