#include "cli/hook_groups.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/hook_session.h"
#include "hooks/defaults.h"

namespace tracewell::cli {
namespace {

std::vector<HookGroup> reserved_groups() {
  return {{"facility", "the trace facility itself", "reserved", "00"}};
}

std::optional<HookGroup> parse_group(std::string_view line) {
  const size_t dash = line.find(" - ");
  const size_t type = line.rfind(" (");
  const size_t hooks = line.rfind(") \"");
  if (dash == std::string_view::npos || type == std::string_view::npos ||
      hooks == std::string_view::npos || dash == 0 || type < dash + 2 || hooks < type ||
      !line.ends_with('"') || hooks + 4 > line.size())
    return std::nullopt;
  HookGroup out;
  out.name = line.substr(0, dash);
  if (type > dash + 3) out.description = line.substr(dash + 3, type - dash - 3);
  out.type = line.substr(type + 2, hooks - type - 2);
  out.hooks = line.substr(hooks + 3, line.size() - hooks - 4);
  return out;
}

}  // namespace

std::string hook_groups_path() {
  return hooks::state_path("TRACEWELL_EVENT_GROUPS", "/var/adm/ras/evgrp", "evgrp");
}

Result<std::vector<HookGroup>> parse_hook_groups(std::string_view text, std::string_view path) {
  std::vector<HookGroup> out;
  uint64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    auto group = parse_group(line);
    if (!group)
      return {Errc::Corrupt,
              fmt::format("{}:{}: expected name - description (type) \"hooks\"", printable(path),
                          number)};
    out.push_back(*std::move(group));
  }
  return out;
}

std::string hook_groups_text(const std::vector<HookGroup>& groups) {
  std::string out;
  for (const HookGroup& one : groups)
    out += fmt::format("{} - {} ({}) \"{}\"\n", printable(one.name), printable(one.description),
                       printable(one.type), printable(one.hooks));
  return out;
}

Result<std::vector<HookGroup>> read_hook_groups() {
  std::vector<HookGroup> out = reserved_groups();
  const std::string path = hook_groups_path();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return out;
  TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(path));
  TW_ASSIGN_OR_RETURN(std::vector<HookGroup> own,
                      parse_hook_groups(as_text(file->bytes()), path));
  std::ranges::move(own, std::back_inserter(out));
  return out;
}

const HookGroup* find_hook_group(const std::vector<HookGroup>& groups, std::string_view name) {
  const auto found = std::ranges::find(groups, name, &HookGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

Result<std::vector<uint16_t>> hooks_of_groups(std::string_view names) {
  TW_ASSIGN_OR_RETURN(const std::vector<HookGroup> groups, read_hook_groups());
  std::vector<uint16_t> out;
  for (const std::string_view name : list_words(names)) {
    const HookGroup* group = find_hook_group(groups, name);
    if (!group)
      return {Errc::InvalidArgument,
              fmt::format("there is no event group '{}' (trcevgrp -l lists them)",
                          printable(name))};
    TW_ASSIGN_OR_RETURN(const std::vector<uint16_t> hooks, hook_ids(group->hooks));
    out.insert(out.end(), hooks.begin(), hooks.end());
  }
  return out;
}

}  // namespace tracewell::cli
