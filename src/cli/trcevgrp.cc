// trcevgrp: groups of trace hooks, by name, for trace -J and -K and the report. They are kept in a
// file of the user's; some are always there.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/control/defaults.h"
#include "hooks/words/hook_groups.h"
#include "hooks/words/hook_ids.h"

namespace tracewell::cli {
namespace {

struct GroupOptions {
  bool list = false, remove = false, add = false, update = false;
  std::optional<std::string> description, hooks;
  std::vector<std::string> names;
};

using Groups = std::vector<hooks::HookGroup>;
using Lines = std::vector<hooks::HookGroupLine>;

Error no_such_group(std::string_view name) {
  return {Errc::NotFound, fmt::format("there is no event group '{}'", printable(name)), {}};
}

Result<int> list_groups(const std::vector<std::string_view>& names) {
  TW_ASSIGN_OR_RETURN(Groups groups, own_hook_groups());
  for (const std::string_view name : names)
    if (!hooks::find_hook_group(groups, name)) return no_such_group(name);
  if (!names.empty())
    std::erase_if(groups, [&](const hooks::HookGroup& one) {
      return std::ranges::count(names, std::string_view(one.name)) == 0;
    });
  fmt::print("{}", hooks::list_hook_groups(groups));
  return static_cast<int>(kOk);
}

Status check_name(std::string_view name) {
  TW_ASSIGN_OR_RETURN(const Groups all, own_hook_groups());
  const hooks::HookGroup* const one = hooks::find_hook_group(all, name);
  if (one && one->type == "reserved")
    return {Errc::InvalidArgument,
            fmt::format("the group '{}' is reserved, and cannot be changed", printable(name))};
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.';
  });
  if (!plain)
    return {Errc::InvalidArgument,
            fmt::format("'{}' is no name of a group: letters, digits, _ - .", printable(name))};
  return {};
}

/// A group is a line of its file.
Status check_description(std::string_view text) {
  if (printable(text) == text && text.find('\n') == std::string_view::npos &&
      text.find('"') == std::string_view::npos)
    return {};
  return {Errc::InvalidArgument, "-d: a line of text without quotes"};
}

Lines::iterator find_line(Lines& own, std::string_view name) {
  return std::ranges::find_if(own, [&](const hooks::HookGroupLine& line) {
    const auto* group = std::get_if<hooks::HookGroup>(&line);
    return group && group->name == name;
  });
}

Status remove_group(Lines& own, std::string_view name) {
  const auto found = find_line(own, name);
  if (found == own.end()) return no_such_group(name);
  own.erase(found);
  return {};
}

Status set_group(Lines& own, const GroupOptions& options, std::string_view name) {
  auto found = find_line(own, name);
  if (options.add && found != own.end())
    return {Errc::InvalidArgument,
            fmt::format("the group '{}' is there already (-u changes it)", printable(name))};
  if (options.update && found == own.end()) return no_such_group(name);
  if (options.add)
    found = own.insert(own.end(), hooks::HookGroup{std::string(name), "", "normal", ""});
  hooks::HookGroup& group = std::get<hooks::HookGroup>(*found);
  if (options.description) group.description = *options.description;
  if (options.hooks) group.hooks = *options.hooks;
  return {};
}

Result<int> change_groups(const GroupOptions& options,
                          const std::vector<std::string_view>& names) {
  if (names.empty() || (!options.remove && names.size() != 1))
    return {Errc::InvalidArgument, "which group?"};
  for (const std::string_view name : names) TW_RETURN_IF_ERROR(check_name(name));
  const bool described = options.description.has_value(), hooked = options.hooks.has_value();
  if (options.remove ? described || hooked : options.add ? !hooked : !described && !hooked)
    return {Errc::InvalidArgument, options.remove ? "-r takes neither -d nor -h"
                                   : options.add  ? "which hooks? -h is missing"
                                                  : "-u needs -d, -h or both"};
  if (hooked) {
    TW_ASSIGN_OR_RETURN(const std::vector<uint16_t> ids, hooks::hook_ids(*options.hooks));
    if (ids.empty()) return {Errc::InvalidArgument, "-h: no hooks"};
  }
  if (described) TW_RETURN_IF_ERROR(check_description(*options.description));
  TW_ASSIGN_OR_RETURN(const std::string path, hooks::hook_groups_path(hooks::StateUse::Write));
  const auto change = [&](const std::string& text) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(Lines own, hooks::parse_hook_groups(text, path));
    for (const std::string_view name : names)
      TW_RETURN_IF_ERROR(options.remove ? remove_group(own, name) : set_group(own, options, name));
    return hooks::hook_groups_text(own);
  };
  TW_RETURN_IF_ERROR(hooks::change_file(path, change));
  return static_cast<int>(kOk);
}

Result<int> event_groups(const GroupOptions& options) {
  const int asked = options.list + options.remove + options.add + options.update;
  if (asked > 1) return {Errc::InvalidArgument, "one of -l, -r, -a and -u"};
  std::vector<std::string_view> names;
  for (const std::string& text : options.names)
    for (const std::string_view name : hooks::list_words(text)) names.push_back(name);
  if (options.list || asked == 0) return list_groups(names);
  return change_groups(options, names);
}

}  // namespace

Run trcevgrp_command(OptionTable& table) {
  auto options = std::make_shared<GroupOptions>();
  table.set_help("--help", "print this help and exit");
  table.add({
      {.names = "-l",
       .to = &options->list,
       .what = "list groups (all of them, without GROUP); the default"},
      {.names = "-r", .to = &options->remove, .what = "remove the groups"},
      {.names = "-a", .to = &options->add, .what = "make a group of the hooks of -h"},
      {.names = "-u",
       .to = &options->update,
       .what = "give a group the description of -d, the hooks of -h"},
      {.names = "-d",
       .to = &options->description,
       .value = "TEXT",
       .what = "what the group is for"},
      {.names = "-h",
       .to = &options->hooks,
       .value = "HOOKS",
       .what = "its hooks: 010,02 (020 to 02f),1230"},
      {.names = "GROUP",
       .to = &options->names,
       .what = "names of groups, with commas or blanks between them",
       .completes = Completes::HookGroup},
  });
  table.footer =
      "A line of the list: NAME - DESCRIPTION (TYPE) \"HOOKS\". Those of type reserved cannot be\n"
      "changed. They are kept as such lines in $TRACEWELL_EVENT_GROUPS where that is set, in\n"
      "/var/adm/ras/evgrp (root) or $XDG_STATE_HOME/tracewell/evgrp (others).\n"
      "Exit status: 1 if there is no such group.";
  return [options](const Invocation&) {
    const auto status = event_groups(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
