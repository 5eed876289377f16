// How parts of an executed instruction are written for people.
#pragma once

#include <cstdint>
#include <string>

#include "model/catalog.h"
#include "model/event.h"

namespace tracewell::render {

/// "rax=0x2a", "rax=?". Nothing for registers that are not shown; false then.
bool append_change(std::string& out, const Catalog& catalog, const Step::RegisterChange& change);
/// "[0x1000]=2a<-2b": what it read, and what it wrote; "?(8)" is so many bytes that nobody knows.
/// Nothing for bytes that were not touched; false then.
bool append_access(std::string& out, const Step::MemoryAccess& access);

}  // namespace tracewell::render
