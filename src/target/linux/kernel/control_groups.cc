#include "target/linux/kernel/control_groups.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/files/file.h"
#include "base/text/text.h"

namespace tracewell::target::live {
namespace {

std::string contents(const std::string& path) {
  const auto file = InputFile::open(path);
  return std::string(file.ok() ? as_text((*file)->bytes()) : std::string_view());
}

/// nullopt: it says no number, such as "max".
std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<uint64_t> number_of(const std::string& folder, std::string_view file) {
  return number_in(group_says(folder, file));
}

/// Of a file with lines of names and numbers; 0 where it has no such line.
uint64_t counted(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n'))
    if (take_until(line, ' ') == name) return number_in(line).value_or(0);
  return 0;
}

struct Files {
  std::string_view limits[2];  // "" = none
  std::string_view usage;
  std::string_view dropped[2];  // in memory.stat: pages of files
};
constexpr Files kVersion1 = {{"memory.limit_in_bytes", ""},
                          "memory.usage_in_bytes",
                          {"total_inactive_file", "total_active_file"}};
constexpr Files kVersion2 = {
    {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}};

void look_at(const std::string& folder, const Files& files, MemoryRoom& least) {
  // Version 1 says "no limit" by the largest number of pages.
  constexpr uint64_t kNoLimit = uint64_t{1} << 62;
  std::optional<uint64_t> limit;
  for (const std::string_view file : files.limits) {
    const auto one = file.empty() ? std::nullopt : number_of(folder, file);
    if (one && *one < kNoLimit && (!limit || *one < *limit)) limit = one;
  }
  const auto used = limit ? number_of(folder, files.usage) : std::nullopt;
  if (!used) return;
  least.has_group_limit = true;
  const std::string stat = contents(folder + "/memory.stat");
  const uint64_t dropped = counted(stat, files.dropped[0]) + counted(stat, files.dropped[1]);
  const uint64_t kept = *used - std::min(*used, dropped);
  const uint64_t left = *limit - std::min(*limit, kept);
  if (left >= least.bytes) return;
  least = {left, *limit, folder, true};
}

}  // namespace

/// proc(5): a line for each hierarchy: its number, its controllers, the group. That of the second
/// version is 0, without controllers. Where a container shows its own group as the mounted root,
/// the group's name leads nowhere, and the root is what there is.
GroupFolders group_folders(std::string_view text, std::string_view controller,
                           std::string_view mounted) {
  GroupFolders out;
  const auto add_all = [](std::vector<std::string>& to, std::string root, std::string_view group) {
    if (group.find("/..") != group.npos) group = {};  // outside of what can be seen
    while (!group.empty() && group != "/") {
      to.push_back(root + std::string(group));
      group = group.substr(0, group.rfind('/'));
    }
    to.push_back(std::move(root));
  };
  for (std::string_view line : split(text, '\n')) {
    (void)take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    if (!line.starts_with('/')) continue;
    const auto named = split(controllers, ',');
    if (controllers.empty()) {
      for (const char* const root : {"", "/unified"})
        add_all(out.second, std::string(mounted) + root, line);
    } else if (std::ranges::find(named, controller) != named.end()) {
      add_all(out.first, std::string(mounted) + "/" + std::string(controller), line);
    }
  }
  return out;
}

std::string group_says(const std::string& folder, std::string_view file) {
  const std::string text = contents(folder + "/" + std::string(file));
  return text.substr(0, text.find('\n'));
}

MemoryRoom memory_room(std::string_view text, std::string_view mounted) {
  MemoryRoom least;
  const GroupFolders folders = group_folders(text, "memory", mounted);
  for (const std::string& folder : folders.first) look_at(folder, kVersion1, least);
  for (const std::string& folder : folders.second) look_at(folder, kVersion2, least);
  return least;
}

MemoryRoom memory_room_of(Pid pid) {
  constexpr uint64_t kKib = 1024;
  const auto text = read_proc(pid, "cgroup");
  MemoryRoom least = text ? memory_room(*text) : MemoryRoom{};
  const std::string machine = contents("/proc/meminfo");
  const auto kib = [&](std::string_view name) { return number_in(status_value(machine, name)); };
  const auto left = kib("MemAvailable"), all = kib("MemTotal");
  if (left && all && *left * kKib < least.bytes)
    least = {*left * kKib, *all * kKib, "", least.has_group_limit};
  return least;
}

}  // namespace tracewell::target::live
