#include "hooks/words/group_words.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "base/text/text.h"
#include "hooks/control/defaults.h"
#include "hooks/words/hook_ids.h"

namespace tracewell::hooks {
namespace {

using Kind = GroupChange::Kind;
using GroupLines = std::vector<HookGroupLine>;

Error no_such_group(std::string_view name) {
  return {Errc::NotFound, fmt::format("there is no event group '{}'", printable(name)), {}};
}

Status check_group_name(std::string_view name, BelievedFiles& files) {
  TW_ASSIGN_OR_RETURN(const std::vector<HookGroup> all, own_hook_groups(files));
  const HookGroup* const one = find_hook_group(all, name);
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

Status check_change(const GroupChange& change, BelievedFiles& files) {
  const bool removes = change.kind == Kind::Remove, adds = change.kind == Kind::Add;
  if (change.names.empty() || (!removes && change.names.size() != 1))
    return {Errc::InvalidArgument, "which group?"};
  for (const std::string_view name : change.names)
    TW_RETURN_IF_ERROR(check_group_name(name, files));
  const bool described = change.description.has_value(), hooked = change.hooks.has_value();
  if (removes ? described || hooked : adds ? !hooked : !described && !hooked)
    return {Errc::InvalidArgument, removes ? "-r takes neither -d nor -h"
                                   : adds  ? "which hooks? -h is missing"
                                           : "-u needs -d, -h or both"};
  if (hooked) {
    TW_ASSIGN_OR_RETURN(const std::vector<uint16_t> ids, hook_ids(*change.hooks));
    if (ids.empty()) return {Errc::InvalidArgument, "-h: no hooks"};
  }
  return described ? check_description(*change.description) : Status();
}

GroupLines::iterator find_line(GroupLines& own, std::string_view name) {
  return std::ranges::find_if(own, [&](const HookGroupLine& line) {
    const auto* group = std::get_if<HookGroup>(&line);
    return group && group->name == name;
  });
}

Status remove_group(GroupLines& own, std::string_view name) {
  const auto found = find_line(own, name);
  if (found == own.end()) return no_such_group(name);
  own.erase(found);
  return {};
}

Status set_group(GroupLines& own, const GroupChange& change, std::string_view name) {
  const bool adds = change.kind == Kind::Add;
  auto found = find_line(own, name);
  if (adds && found != own.end())
    return {Errc::InvalidArgument,
            fmt::format("the group '{}' is there already (-u changes it)", printable(name))};
  if (!adds && found == own.end()) return no_such_group(name);
  if (adds) found = own.insert(own.end(), HookGroup{std::string(name), "", "normal", ""});
  HookGroup& group = std::get<HookGroup>(*found);
  if (change.description) group.description = *change.description;
  if (change.hooks) group.hooks = *change.hooks;
  return {};
}

}  // namespace

Result<std::vector<HookGroup>> named_hook_groups(const std::vector<std::string_view>& names,
                                                 BelievedFiles& files) {
  TW_ASSIGN_OR_RETURN(std::vector<HookGroup> groups, own_hook_groups(files));
  for (const std::string_view name : names)
    if (!find_hook_group(groups, name)) return no_such_group(name);
  if (!names.empty())
    std::erase_if(groups, [&](const HookGroup& one) {
      return std::ranges::count(names, std::string_view(one.name)) == 0;
    });
  return groups;
}

Status change_hook_groups(const GroupChange& change, BelievedFiles& files) {
  TW_RETURN_IF_ERROR(check_change(change, files));
  TW_ASSIGN_OR_RETURN(const std::string path, hook_groups_path(StateUse::Write));
  return change_file(path, [&](const std::string& text) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(GroupLines own, parse_hook_groups(text, path));
    for (const std::string_view name : change.names)
      TW_RETURN_IF_ERROR(change.kind == Kind::Remove ? remove_group(own, name)
                                                     : set_group(own, change, name));
    return hook_groups_text(own);
  });
}

}  // namespace tracewell::hooks
