// One line of JSON to one event.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "model/register_names.h"

namespace tracewell::formats {

/// Keeps the catalog's register names for lookup, and scratch space.
class EventReader {
 public:
  /// `catalog` must outlive the reader.
  explicit EventReader(const Catalog& catalog);

  /// Appends the event to `batch`. `seq` is its number if the line does not say. On failure the
  /// batch has no new event, and the error says what is wrong with the line.
  Status read(std::string_view line, uint64_t seq, Batch& batch);

  /// Does the last line that was read have a `before`?
  bool told_before() const { return told_before_; }

  /// The pid that it has; 0 = none.
  uint32_t told_pid() const { return told_pid_; }

  /// What values of registers have taken in batches until now, those of lines that failed as well.
  /// A short number may be that of a long register.
  uint64_t value_bytes() const { return value_bytes_; }

 private:
  friend class EventBodyReader;
  const Catalog& catalog_;
  RegisterNames register_names_;
  uint64_t value_bytes_ = 0;
  bool told_before_ = false;
  uint32_t told_pid_ = 0;
};

}  // namespace tracewell::formats
