// Lines of JSON: the catalog, which is the first one, and events. jsonl.cc makes files of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/catalog.h"
#include "model/event.h"
#include "model/problem.h"

namespace tracewell::formats {

/// `{"catalog":{…}}`, without a newline.
std::string catalog_to_json(const Catalog& catalog);
/// Missing keys keep their defaults, unknown keys are ignored; what is of the wrong type is left
/// out and told.
Result<Catalog> catalog_from_json(std::string_view line, ProblemLog& problems);

/// Appends one event, without a newline. `with_before`: a step has that key even if it is empty.
/// `pid`: of its process; 0 = not known.
void append_event_json(std::string& out, const Catalog& catalog, const Event& event,
                       bool with_before = false, uint32_t pid = 0);

}  // namespace tracewell::formats
