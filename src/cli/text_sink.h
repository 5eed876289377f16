// Events as text for people: one paragraph a frame, one line for what is small.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.h"
#include "model/stream.h"
#include "symbols/names.h"

namespace tracewell::cli {

/// What addresses are called; "" = nothing is known. The texts may hold anything.
struct AddressNames {
  std::function<std::string(uint64_t)> code;  // where instructions are: symbol and source
  std::function<std::string(uint64_t)> data;  // where memory begins
  std::function<std::string(uint64_t)> module;  // the file's name
  std::function<std::string(uint64_t)> symbol;  // "match+19"
  std::function<std::string(uint64_t)> source;  // "book.c:19"
  /// The other way: what is called so.
  std::function<std::vector<symbols::NamedPlace>(std::string_view)> places;
};

/// Writes to standard output. `color`: with escape sequences.
std::unique_ptr<Sink> text_sink(bool color, AddressNames names = {});

/// Microseconds or nanoseconds since the epoch as "2024-05-01 12:00:00.123456789 UTC". A clock that
/// plainly does not count from the epoch (gdbserver's counts from the machine's start) gives
/// "12.345 s" instead.
std::string time_text(int64_t time_ns);

/// The `at` source of a tracepoint ("work", "file.c:9"), printable; empty when it has none.
std::string location_text(const TracepointDef& tracepoint);

}  // namespace tracewell::cli
