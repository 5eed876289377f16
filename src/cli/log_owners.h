// Whose logs a report is made of: what one user's events decide for those behind them, they decide
// for that user's logs alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/folder.h"
#include "cli/report_logs.h"

namespace tracewell::cli {

/// Of a file: its owner. Of a log of trace hooks: that of its folder, where all of its files have
/// the same one and not everybody may put some there. nullopt: it has no one owner, as a pipe, or
/// it cannot be known.
std::optional<uint32_t> owner_of_log(const LogName& name);
/// The same of one that is open, whatever has its name by now. `folder`: that a log of trace hooks
/// is read from; nullptr: none is. It has no owner if the open file is not the one in that folder.
std::optional<uint32_t> owner_of_log(const ReportLog& log, const Folder* folder);

/// Of each.
std::vector<std::optional<uint32_t>> owners_of_logs(std::span<const LogName> names);

/// Are the logs of several owners? One without owner is like no other.
bool are_several(std::span<const std::optional<uint32_t>> owners);

}  // namespace tracewell::cli
