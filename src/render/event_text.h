// Events as text for people: one paragraph a frame, one line for what is small.
#pragma once

#include <memory>
#include <string>

#include "model/catalog.h"
#include "model/stream.h"
#include "trace/images/address_names.h"

namespace tracewell::render {

/// Writes to standard output. `color`: with escape sequences.
std::unique_ptr<Sink> text_sink(bool color, trace::AddressNames names = {});

/// The `at` source of a tracepoint ("work", "file.c:9"), printable; empty when it has none.
std::string location_text(const TracepointDef& tracepoint);

}  // namespace tracewell::render
