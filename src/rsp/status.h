// The status of a tracing run as text: the reply to qTStatus, and the `status` line of trace files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"

namespace tracewell::rsp {

/// Bytes of a status that GDB may save: it opens no trace file with a line of 1000.
inline constexpr size_t kStatusLineMax = 990;

/// The reply to qTStatus: `T1;tnotrun:0;tframes:0;…`, in gdbserver's order but without the stray
/// colon that ends its last field. Absent fields are left out.
std::string format_status(const RunStatus& status);

/// What stands behind `status ` in a trace file, byte for byte as GDB writes it: notes before
/// user name, flags and times only when they are not zero.
std::string format_status_tfile(const RunStatus& status);

/// Reads both forms: `T1;…` and `1;…`. Forgiving, as GDB is: a trailing colon is ignored, fields
/// with unknown names or unreadable values are skipped and handed over in `unknown` (whole, in
/// order) if that is given. Corrupt when the text does not begin with 0 or 1.
Result<RunStatus> parse_status(std::string_view text, std::vector<std::string>* unknown = nullptr);

}  // namespace tracewell::rsp
