// All commands and their options as JSON, for whoever makes the manual page and completions.
//   {"commands":[{"name","summary","description","programs":["trcrpt"],
//    "options":[{"names":["-o","--output"],"value":"FILE"|null,"description","required",
//      "unit":"bytes"|null,"default":"256"|null,"completes":"file","choices":["csv"],
//      "separator":","|null}],
//    "positionals":[{"name","description","required","many", and from "unit" on as above}],
//    "hidden":[{"names","value","refused":"why it is not taken"|null}]}]}
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/options/option.h"
#include "cli/version.h"
#include "render/json_document.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

/// What both kinds of rows have.
void add_value_facts(const Option& option, Json& out) {
  const bool choices = !option.choices.empty();
  out["unit"] = text_or_null(option.unit);
  out["default"] = text_or_null(option.otherwise);
  out["completes"] = choices ? "choices" : completes_name(option.completes);
  out["choices"] = option.choices;
  out["separator"] =
      option.separator == '\0' ? Json() : Json(std::string(1, option.separator));
}

Json describe_option(const Option& option) {
  Json out = {{"names", names_of(option)},
              {"value", text_or_null(value_text(option))},
              {"description", option.what},
              {"required", option.required}};
  add_value_facts(option, out);
  return out;
}

Json describe_word(const Option& option) {
  Json out = {{"name", option.names},
              {"description", option.what},
              {"required", option.required},
              {"many", is_list(option)}};
  add_value_facts(option, out);
  return out;
}

Json describe_hidden(const Option& option) {
  const auto* refused = std::get_if<Refused>(&option.to);
  return {{"names", names_of(option)},
          {"value", text_or_null(value_text(option))},
          {"refused", refused ? Json(refused->why) : Json()}};
}

Json describe(const Command& command) {
  OptionTable table("tracewell " + std::string(command.name), command.summary);
  command.configure(table);
  Json out = {
      {"name", command.name}, {"summary", command.summary}, {"description", table.footer}};
  out["programs"] = program_names(command);
  for (const char* list : {"options", "positionals", "hidden"}) out[list] = Json::array();
  for (const Option& option : table.rows) {
    if (option.hidden)
      out["hidden"].push_back(describe_hidden(option));
    else if (is_word(option))
      out["positionals"].push_back(describe_word(option));
    else
      out["options"].push_back(describe_option(option));
  }
  return out;
}

}  // namespace

Run describe_command(OptionTable&) {
  return [](const Invocation&) {
    Json out = {{"program", "tracewell"}, {"version", version()}};
    out["commands"] = Json::array();
    for (const Command& command : commands())
      if (!command.hidden) out["commands"].push_back(describe(command));
    fmt::print("{}\n", render::json_document(out, 2));
    return kOk;
  };
}

}  // namespace tracewell::cli
