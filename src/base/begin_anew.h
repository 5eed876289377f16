// Hash tables that are emptied again and again.
#pragma once

#include <cstddef>

namespace tracewell {

/// Empties the table. clear() goes over all places that it ever had, however few are taken: whoever
/// wrote the input may have it grow once, and emptied at each event from then on. A wide table
/// gives its room back; what was put into it has paid for that.
template <class Table>
void begin_anew(Table& table) {
  constexpr std::size_t kFew = 64, kTimes = 8;
  if (table.bucket_count() <= kFew + kTimes * table.size())
    table.clear();
  else
    Table().swap(table);
}

}  // namespace tracewell
