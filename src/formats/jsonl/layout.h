// What a JSON catalog need not spell out: the layout that its other keys imply.
#pragma once

#include <string_view>

#include "model/catalog.h"

namespace tracewell::formats {

/// From the target description if there is one, else the usual one for the machine, of
/// registers.size_bytes if that is not 0.
RegisterLayout implied_layout(const Catalog& catalog);
bool same_layout(const RegisterLayout& a, const RegisterLayout& b);

std::string_view stop_name(RunStatus::Stop stop);

}  // namespace tracewell::formats
