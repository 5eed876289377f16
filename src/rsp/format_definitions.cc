// The writing half of definitions.h, and variables.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "rsp/definitions.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

void add_source(std::vector<std::string>& pieces, const std::string& identity,
                const TracepointDef::Source& source, size_t chunk) {
  const std::string_view text = source.text;
  size_t start = 0;
  do {
    const std::string_view part = text.substr(start, chunk);
    pieces.push_back(fmt::format("Z{}{}:{:x}:{:x}:{}", identity, source.type, start, text.size(),
                                 to_hex(part)));
    start += part.size();
  } while (start < text.size());
}

}  // namespace

std::string format_definition_body(const TracepointDef& definition) {
  std::string out = fmt::format("{}:{:x}:{:x}", definition.enabled ? 'E' : 'D',
                                definition.step_count, definition.pass_count);
  if (definition.fast_length) out += fmt::format(":F{:x}", *definition.fast_length);
  if (definition.is_static) out += ":S";
  if (!definition.condition.empty())
    out += fmt::format(":X{:x},{}", definition.condition.size(), to_hex(definition.condition));
  return out;
}

std::vector<std::string> format_pieces(const TracepointDef& definition, size_t source_chunk) {
  const std::string identity = fmt::format("{:x}:{:x}:", definition.number, definition.address);
  std::vector<std::string> pieces{"T" + identity + format_definition_body(definition)};
  for (const std::string& action : definition.actions)
    pieces.push_back("A" + identity + action);
  for (const std::string& action : definition.step_actions)
    pieces.push_back("S" + identity + action);
  const size_t chunk = source_chunk == 0 ? std::string::npos : source_chunk;
  for (const auto& source : definition.sources) add_source(pieces, identity, source, chunk);
  if (definition.usage)
    pieces.push_back(
        fmt::format("V{}{:x}:{:x}", identity, definition.usage->hits, definition.usage->bytes));
  return pieces;
}

Result<VariableDef> parse_variable(std::string_view text) {
  TextReader in(text);
  const auto bad = [&](std::string_view what) {
    return Error{Errc::InvalidArgument, std::string(what), in.offset()};
  };
  VariableDef variable;
  const auto number = in.hex32();
  if (!number || !in.skip(':')) return bad("bad number of a trace state variable");
  const auto value = in.hex_until(':');
  if (!value) return bad("bad value of a trace state variable");
  const auto builtin = in.hex_until(':');
  if (!builtin) return bad("bad builtin flag of a trace state variable");
  auto name = text_from_hex(in.rest());
  if (!name) return bad("name of a trace state variable that is not hex");
  variable.number = *number;
  variable.initial_value = static_cast<int64_t>(*value);
  variable.builtin = *builtin != 0;
  variable.name = *std::move(name);
  return variable;
}

std::string format_variable(const VariableDef& variable, bool padded_value) {
  const auto value = static_cast<uint64_t>(variable.initial_value);
  return fmt::format("{:x}:{}:{}:{}", variable.number, hex_number(value, padded_value ? 16 : 1),
                     variable.builtin ? 1 : 0, to_hex(variable.name));
}

}  // namespace tracewell::rsp
