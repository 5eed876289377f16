#include "hooks/components/component_rules.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/files/text_file.h"
#include "base/text/text.h"
#include "hooks/control/control.h"
#include "hooks/control/defaults.h"

namespace tracewell::hooks {
namespace {

/// What the patterns are, as rules begin.
std::vector<std::string> rule_heads(const ComponentChoice& choice) {
  std::vector<std::string> out;
  const auto add = [&](char kind, const std::vector<std::string>& patterns) {
    for (const std::string& one : patterns) {
      out.push_back(fmt::format("{} {}", kind, one == "all" ? "*" : one));
      if (kind == 'c' && choice.children && one != "all")
        out.push_back(fmt::format("c {}.*", one));
    }
  };
  add('c', choice.names);
  add('l', choice.aliases);
  add('t', choice.types);
  return out;
}

/// A rule begins with two words.
std::string_view head_of_rule(std::string_view line) {
  const size_t first = line.find(' ');
  return line.substr(0, first == std::string_view::npos ? first : line.find(' ', first + 1));
}

/// Rules that `goes` says stay no longer; then `more`.
Status change_rules(bool for_good, const std::function<bool(std::string_view line)>& goes,
                    const std::string& more) {
  // Whoever is the first to need the folder makes it the user's alone.
  if (!for_good) TW_RETURN_IF_ERROR(Control::open());
  TW_ASSIGN_OR_RETURN(const std::string path, component_rules_path(for_good, StateUse::Write));
  return change_file(path, [&](const std::string& text) -> Result<std::string> {
    std::string out;
    for (const std::string_view line : split(text, '\n'))
      if (!line.empty() && !goes(line)) out.append(line).append("\n");
    return out + more;
  });
}

}  // namespace

Status add_component_rules(const ComponentChoice& choice, const ComponentChange& change,
                           bool for_good) {
  std::string rules;
  for (const std::string& head : rule_heads(choice))
    rules.append(head).append(change.rule()).append("\n");
  return change_rules(for_good, [](std::string_view) { return false; }, rules);
}

Status forget_component_rules(const ComponentChoice& choice, bool for_good) {
  const auto heads = rule_heads(choice);
  return change_rules(for_good, [&](std::string_view line) {
    return heads.empty() || std::ranges::count(heads, head_of_rule(line)) != 0;
  }, "");
}

Result<std::optional<std::string>> component_rules(bool for_good, BelievedFiles& files) {
  const auto path = files.path(component_rules_path(for_good));
  if (!path || !is_there(*path)) return std::optional<std::string>();
  TW_ASSIGN_OR_RETURN(std::string text, read_text_file(*path));
  return std::optional(std::move(text));
}

}  // namespace tracewell::hooks
