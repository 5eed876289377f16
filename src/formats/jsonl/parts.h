// What stands in the catalog and in events alike: modules and processes.
#pragma once

#include <string>

#include "model/catalog.h"
#include "model/process.h"

namespace tracewell::formats {

/// As json::module_of() and json::process_of() read them.
void append_module_json(std::string& out, const Module& module);
void append_process_json(std::string& out, const Process& process);

}  // namespace tracewell::formats
