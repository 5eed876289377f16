#include "cli/version.h"

namespace tracewell::cli {
std::string_view version() { return "0.1.0"; }
}  // namespace tracewell::cli
