// Builds the tree of a JSON text in time that grows with the text, however many members an object
// has. nlohmann's own parser looks for each member among all those before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tracewell::formats::json {

using Json = nlohmann::ordered_json;

/// nullopt: `text` is not JSON. A name that an object has several times stands where it was first,
/// with the value that it had last. How deep `text` nests is the caller's to bound.
std::optional<Json> build_tree(std::string_view text);

/// Puts a member behind the others of `object` without looking whether it is there already.
/// Whoever does so calls join_repeated() at the end.
Json& add_member(Json& object, std::string name, Json value);

/// Of members of `object` with one name, the first one stays, with the value of the last one.
void join_repeated(Json& object);

}  // namespace tracewell::formats::json
