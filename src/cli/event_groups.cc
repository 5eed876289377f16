#include "cli/event_groups.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/hook_session.h"
#include "cli/report_logs.h"
#include "report/report.h"

namespace tracewell::cli {
namespace {

EventGroup own_group() {
  EventGroup group{"facility", "the trace facility itself", "reserved", {}};
  for (uint16_t hook = 0; hook < 0x0100; hook = static_cast<uint16_t>(hook + 0x10))
    group.hooks.push_back(hook);
  return group;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Result<EventGroup> parse_group(std::string_view line) {
  const Error wrong{Errc::InvalidArgument, "expected name - description (type) \"hooks\"", {}};
  const size_t dash = line.find(" - ");
  const size_t first = line.find('"');
  const size_t last = line.rfind('"');
  if (dash == std::string_view::npos || first == std::string_view::npos || first == last)
    return wrong;
  const std::string_view middle = trimmed(line.substr(dash + 3, first - dash - 3));
  const size_t open = middle.rfind('(');
  if (open == std::string_view::npos || !middle.ends_with(')')) return wrong;
  EventGroup group;
  group.name = trimmed(line.substr(0, dash));
  group.description = trimmed(middle.substr(0, open));
  group.type = middle.substr(open + 1, middle.size() - open - 2);
  TW_ASSIGN_OR_RETURN(group.hooks, hook_ids(std::string(line.substr(first + 1, last - first - 1))));
  if (group.name.empty()) return wrong;
  return group;
}

}  // namespace

std::string event_groups_path() {
  return state_file("TRACEWELL_EVENT_GROUPS", "/var/adm/ras/evgrp", "evgrp");
}

Result<std::vector<EventGroup>> read_event_groups(const std::string& path) {
  std::vector<EventGroup> groups = {own_group()};
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return groups;
  TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(path));
  uint64_t number = 0;
  for (const std::string_view line : split(as_text(file->bytes()), '\n')) {
    ++number;
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    Result<EventGroup> group = parse_group(line);
    if (!group.ok())
      return {Errc::InvalidArgument, fmt::format("{}:{}: {}", path, number, group.error().text())};
    groups.push_back(*std::move(group));
  }
  return groups;
}

std::string list_event_groups(const std::vector<EventGroup>& groups) {
  std::string text;
  for (const EventGroup& group : groups) {
    std::string hooks;
    for (const uint16_t hook : group.hooks)
      hooks += (hooks.empty() ? "" : ",") + report::hook_text(hook);
    text += fmt::format("{} - {} ({}) \"{}\"\n", printable(group.name),
                        printable(group.description), printable(group.type), hooks);
  }
  return text;
}

}  // namespace tracewell::cli
