#include "hooks/session/losses.h"

#include <tracewell/hook_layout.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/mapping.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/programs/nested_processes.h"
#include "hooks/programs/own_process.h"
#include "hooks/rings/ring_file.h"

namespace tracewell::hooks {
namespace {

constexpr uint64_t kRecordsMax = (uint64_t{1} << TRACEWELL_LOSSES_SESSION_SHIFT) - 1;

/// nullopt: it is no such file, or its maker has not got so far.
std::optional<tracewell_losses> read_losses(const Folder& folder, const std::string& name) {
  const auto fd = folder.open_own(name, Folder::Make::No);
  if (!fd.ok()) return std::nullopt;
  const auto facts = facts_of(fd->get(), name);
  if (!facts.ok() || facts->bytes < TRACEWELL_HOOK_PAGE) return std::nullopt;
  const auto map =
      Mapping::map(fd->get(), TRACEWELL_HOOK_PAGE, Mapping::Access::Read, folder.path_of(name));
  if (!map.ok()) return std::nullopt;
  tracewell_losses out;
  std::memcpy(&out, map->data(), sizeof out);
  if (out.magic != TRACEWELL_LOSSES_MAGIC) return std::nullopt;
  return out;
}

using Visit = std::function<void(const Folder&, const std::string& name, const tracewell_losses&)>;

/// `meeting`: the folder of the control file.
void for_each_losses(const std::string& meeting, const Visit& visit) {
  const auto above = Folder::named(meeting);
  if (!above.ok()) return;
  const auto folder = above->inside(TRACEWELL_LOSSES_NAME);
  if (!folder.ok()) return;
  const auto names = folder->names();
  if (!names.ok()) return;
  for (const std::string& name : *names)
    if (const auto losses = read_losses(*folder, name)) visit(*folder, name, *losses);
}

/// Of the session that the channel has now.
uint64_t records_in(const tracewell_losses& losses, const Control& control, unsigned channel) {
  const uint64_t word = losses.lost[channel];
  const bool is_of_it = losses.control == control.inode() &&
                        word >> TRACEWELL_LOSSES_SESSION_SHIFT == control.channel(channel).session;
  return is_of_it ? word & kRecordsMax : 0;
}

bool is_waited_for(const Control& control, const tracewell_losses& losses) {
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (control.channel(i).active != 0 && records_in(losses, control, i) != 0) return true;
  return false;
}

/// Processes that have components, or had: what they lost is told with what is in their buffers.
std::set<uint32_t> with_components(const std::string& meeting) {
  std::set<uint32_t> out;
  const auto above = Folder::named(meeting);
  if (!above.ok()) return out;
  const auto folder = above->inside(TRACEWELL_COMPONENTS_NAME);
  const auto names = folder.ok() ? folder->names() : Result<std::vector<std::string>>(Error{});
  if (!names.ok()) return out;
  for (const std::string& name : *names)
    if (const auto pid = parse_number(name.substr(0, name.find('-'))); pid && *pid <= UINT32_MAX)
      out.insert(static_cast<uint32_t>(*pid));
  return out;
}

}  // namespace

void watch_losses(Control& control, unsigned channel) {
  tracewell_watch& watch = control.watch(channel);
  const uint64_t now = control.failures(channel);
  if (watch.session != control.channel(channel).session) return;
  if (now < watch.lost) watch.changed = 1;
  watch.lost = std::max(watch.lost, now);
}

Error with_losses(Error error, const Losses& losses) {
  if (losses.records != 0)
    error.message += fmt::format(" ({} records lost: {})", losses.records, kNoRing);
  if (losses.changed) error.message += fmt::format(" (more were lost: {})", kCountsChanged);
  return error;
}

Losses losses_of(Control& control, unsigned channel) {
  // Their own first: programs count in the other page before.
  uint64_t own = 0;
  const auto add = [&](const Folder&, const std::string&, const tracewell_losses& losses) {
    own += records_in(losses, control, channel);
  };
  for_each_losses(parent_of(control.path()), add);
  const uint64_t all = control.failures(channel);
  const tracewell_watch& watch = control.watch(channel);
  watch_losses(control, channel);
  if (watch.session != control.channel(channel).session)
    return {std::max(own, all), all < own};
  return {std::max(own, watch.lost), watch.changed != 0 || all < own};
}

ComponentLosses component_losses() {
  ComponentLosses out;
  const auto add = [&](const Folder&, const std::string&, const tracewell_losses& losses) {
    auto& all = out[{losses.pid, losses.start}];
    for (size_t slot = 0; slot < all.size(); ++slot) all[slot] += losses.of_components[slot];
  };
  for_each_losses(control_folder(), add);
  return out;
}

void forget_dead_losses(const Control& control) {
  const std::set<uint32_t> dumpable = with_components(parent_of(control.path()));
  std::optional<NestedProcesses> nested;
  // Its number may be another here, as in a container, and what it was told of its start.
  const auto lives = [&](const std::string& name, const tracewell_losses& losses) {
    const std::string mapped = fmt::format("/{}/{}", TRACEWELL_LOSSES_NAME, name);
    if (process_lives(losses.pid, losses.start) || has_mapped(losses.pid, mapped).value_or(false))
      return true;
    if (!nested) nested = NestedProcesses::look();
    return nested->find(losses.pid, mapped) != 0;
  };
  const auto forget = [&](const Folder& folder, const std::string& name,
                          const tracewell_losses& losses) {
    const bool of_components = std::ranges::any_of(losses.of_components, [](uint64_t lost) {
      return lost != 0;
    });
    const bool is_to_be_told = of_components && dumpable.contains(losses.pid);
    if (!is_waited_for(control, losses) && !is_to_be_told && !lives(name, losses))
      best_effort(folder.remove(name));
  };
  for_each_losses(parent_of(control.path()), forget);
}

}  // namespace tracewell::hooks
