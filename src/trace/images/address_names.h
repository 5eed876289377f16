// What a trace's addresses are called, whoever knows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/names.h"

namespace tracewell::trace {

/// What addresses are called; "" = nothing is known. The texts may hold anything. Any thread may
/// ask.
struct AddressNames {
  std::function<std::string(uint64_t)> code;  // where instructions are: symbol and source
  std::function<std::string(uint64_t)> data;  // where memory begins
  std::function<std::string(uint64_t)> module;  // the file's name
  std::function<std::string(uint64_t)> symbol;  // "match+19"
  std::function<std::string(uint64_t)> source;  // "book.c:19"
  /// The other way: what is called so.
  std::function<std::vector<symbols::NamedPlace>(std::string_view)> places;
};

}  // namespace tracewell::trace
