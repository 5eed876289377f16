// Tracepoints that a description for GDB cannot tell as they are: fast ones, those at markers and
// probes, lines that are too long. The trailer has all of such a one, as pieces.
#pragma once

#include <string>
#include <string_view>

#include "model/catalog.h"
#include "model/problem.h"

namespace tracewell::formats {

/// The pieces, a line each, of the tracepoints that one who reads `description` gets to see
/// otherwise than they are.
std::string tfile_points_beside(const Catalog& catalog, std::string_view description);

/// Reading: these hold, whatever the description says of the same tracepoints.
void take_tfile_points(std::string_view pieces, Catalog& catalog, ProblemLog& problems);

}  // namespace tracewell::formats
