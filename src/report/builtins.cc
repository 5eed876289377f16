#include "report/builtins.h"

namespace tracewell::report {
namespace {

enum class BuiltinKind : uint8_t { Number, Text };
struct Row {
  std::string_view name;
  BuiltinKind kind;
};
constexpr Row kRows[] = {
#define BUILTIN(name, kind, value, meaning) {#name, BuiltinKind::kind},
#include "report/builtins.def"
};
constexpr std::string_view kActs[] = {
#define ACTION(name, meaning) #name,
#include "report/builtins.def"
};

template <class T>
Value to_value(const T& value) {
  if constexpr (std::is_convertible_v<T, std::string_view>) {
    return {.number = 0, .text = value, .missing = 0};
  } else {
    return {.number = static_cast<uint64_t>(value), .text = {}, .missing = 0};
  }
}

}  // namespace

std::optional<Builtin> find_builtin(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].name == name) return static_cast<Builtin>(i);
  return std::nullopt;
}

std::optional<Act> find_act(std::string_view name) {
  for (size_t i = 0; i < std::size(kActs); ++i)
    if (kActs[i] == name) return static_cast<Act>(i);
  return std::nullopt;
}

bool is_text(Builtin builtin) {
  return kRows[static_cast<size_t>(builtin)].kind == BuiltinKind::Text;
}

Value value_of(Builtin builtin, const Context& context) {
  const Entry& entry = *context.entry;
  const LogFacts& facts = *context.facts;
  const Cursor& cursor = context.cursor;
  const Line& line = context.line;
  switch (builtin) {
#define BUILTIN(name, kind, value, meaning) \
  case Builtin::name:                       \
    return to_value(value);
#include "report/builtins.def"
  }
  return {};
}

}  // namespace tracewell::report
