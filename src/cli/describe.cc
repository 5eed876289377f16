// All commands and their options as JSON, for whoever makes the manual page and completions.
//   {"commands":[{"name","summary","description","programs":["trcrpt"],
//    "options":[{"names":["-o","--output"],"value":"FILE"|null,"description","required"}],
//    "positionals":[{"name","description","required","many"}]}]}
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "render/json_document.h"
#include "cli/version.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;

Json describe_option(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  Json out = {{"names", names},
              {"value", nullptr},
              {"description", option.get_description()},
              {"required", option.get_required()}};
  if (option.get_items_expected_max() != 0) out["value"] = option.get_type_name();
  return out;
}

Json describe_positional(const CLI::Option& option) {
  return {{"name", option.get_single_name()},
          {"description", option.get_description()},
          {"required", option.get_required()},
          {"many", option.get_items_expected_max() > 1}};
}

Json describe(const Command& command) {
  CLI::App app{std::string(command.summary), "tracewell " + std::string(command.name)};
  command.configure(app);
  Json out = {
      {"name", command.name}, {"summary", command.summary}, {"description", app.get_footer()}};
  out["programs"] = program_names(command);
  out["options"] = Json::array();
  out["positionals"] = Json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->get_positional())
      out["positionals"].push_back(describe_positional(*option));
    else
      out["options"].push_back(describe_option(*option));
  }
  return out;
}

}  // namespace

Run describe_command(CLI::App&) {
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
