#include "hooks/words/hook_groups.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/paths.h"
#include "base/files/text_file.h"
#include "base/text/text.h"
#include "hooks/control/defaults.h"
#include "hooks/words/hook_ids.h"

namespace tracewell::hooks {
namespace {

std::vector<HookGroup> reserved_groups() {
  return {{"facility", "the trace facility itself", "reserved", "00"}};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Result<HookGroup> parse_group(std::string_view line) {
  const Error wrong{Errc::Corrupt, "expected name - description (type) \"hooks\"", {}};
  const size_t dash = line.find(" - ");
  const size_t last = line.rfind('"');
  const size_t first = last == 0 || last == line.npos ? line.npos : line.rfind('"', last - 1);
  if (first == line.npos || dash == line.npos || first < dash + 3 || last + 1 != line.size())
    return wrong;
  const std::string_view middle = trimmed(line.substr(dash + 3, first - dash - 3));
  const size_t open = middle.rfind('(');
  if (open == middle.npos || !middle.ends_with(')')) return wrong;
  HookGroup out;
  out.name = trimmed(line.substr(0, dash));
  out.description = trimmed(middle.substr(0, open));
  out.type = middle.substr(open + 1, middle.size() - open - 2);
  out.hooks = line.substr(first + 1, last - first - 1);
  if (out.name.empty()) return wrong;
  TW_RETURN_IF_ERROR(hook_ids(out.hooks));
  return out;
}

std::string group_text(const HookGroup& one) {
  return fmt::format("{} - {} ({}) \"{}\"\n", printable(one.name), printable(one.description),
                     printable(one.type), printable(one.hooks));
}

}  // namespace

Result<std::string> hook_groups_path(StateUse use) {
  return state_path("TRACEWELL_EVENT_GROUPS", "/var/adm/ras/evgrp", "evgrp", use);
}

Result<std::vector<HookGroupLine>> parse_hook_groups(std::string_view text,
                                                     std::string_view path) {
  std::vector<HookGroupLine> out;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (trimmed(line).empty() || line.starts_with('#')) {
      out.emplace_back(std::string(line));
      continue;
    }
    auto group = parse_group(trimmed(line));
    if (!group.ok())
      return {Errc::Corrupt, fmt::format("{}:{}: {}", printable(path), out.size() + 1,
                                         group.error().message)};
    out.emplace_back(*std::move(group));
  }
  return out;
}

std::string hook_groups_text(const std::vector<HookGroupLine>& lines) {
  std::string out;
  for (const HookGroupLine& line : lines) {
    const auto* group = std::get_if<HookGroup>(&line);
    out += group ? group_text(*group) : std::get<std::string>(line) + "\n";
  }
  return out;
}

Result<std::vector<HookGroup>> read_hook_groups(const std::optional<std::string>& path) {
  std::vector<HookGroup> out = reserved_groups();
  if (!path || !is_there(*path)) return out;
  TW_ASSIGN_OR_RETURN(const std::string text, read_text_file(*path));
  TW_ASSIGN_OR_RETURN(const std::vector<HookGroupLine> own, parse_hook_groups(text, *path));
  for (const HookGroupLine& line : own)
    if (const auto* group = std::get_if<HookGroup>(&line)) out.push_back(*group);
  return out;
}

Result<std::vector<HookGroup>> own_hook_groups(BelievedFiles& files) {
  return read_hook_groups(files.path(hook_groups_path()));
}

std::string list_hook_groups(const std::vector<HookGroup>& groups) {
  std::string out;
  for (const HookGroup& one : groups) out += group_text(one);
  return out;
}

const HookGroup* find_hook_group(const std::vector<HookGroup>& groups, std::string_view name) {
  const auto found = std::ranges::find(groups, name, &HookGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

Result<std::vector<uint16_t>> hooks_of_groups(const std::vector<HookGroup>& groups,
                                              std::string_view names) {
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

Result<std::vector<uint16_t>> hooks_of_own_groups(BelievedFiles& files, std::string_view names) {
  TW_ASSIGN_OR_RETURN(const std::vector<HookGroup> groups, own_hook_groups(files));
  return hooks_of_groups(groups, names);
}

}  // namespace tracewell::hooks
