// What stands around the rows of an execution trace viewer's JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/problem.h"

namespace tracewell::formats {

struct TvtHeader {
  static constexpr uint32_t kNoRegister = UINT32_MAX;

  Catalog catalog;
  /// What each place in a row's list of registers is, an index into the layout or kNoRegister.
  std::vector<uint32_t> columns;
  size_t rows_begin = 0;  // behind the bracket that opens the list of rows
};

/// Walks over the whole document, whose rows are not looked at yet. An Error when there is no list
/// of rows. What is not known here becomes an extra.
Result<TvtHeader> read_tvt_header(std::string_view text, ProblemLog& problems);

}  // namespace tracewell::formats
