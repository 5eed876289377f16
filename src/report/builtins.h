// The macros of builtins.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "report/codes.h"
#include "report/render/context.h"

namespace tracewell::report {

enum class Builtin : uint8_t {
#define BUILTIN(name, kind, value, meaning) name,
#include "report/builtins.def"
};

enum class Act : uint8_t {
#define ACTION(name, meaning) name,
#include "report/builtins.def"
};

std::optional<Builtin> find_builtin(std::string_view name);
std::optional<Act> find_act(std::string_view name);
bool is_text(Builtin builtin);
Value value_of(Builtin builtin, const Context& context);

}  // namespace tracewell::report
