// Whose logs a report is made of: what one user's events decide for those behind them, they decide
// for that user's logs alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/report_logs.h"

namespace tracewell::cli {

/// Of a file: its owner. Of a log of trace hooks: that of its folder, where all of its files have
/// the same one and not everybody may put some there. nullopt: it has no one owner, as a pipe, or
/// it cannot be known.
std::optional<uint32_t> owner_of_log(const std::string& path);
/// The same of one that is open.
std::optional<uint32_t> owner_of_log(const ReportLog& log);

/// Of each.
std::vector<std::optional<uint32_t>> owners_of_logs(std::span<const std::string> paths);

/// Are the logs of several owners? One without owner is like no other.
bool are_several(std::span<const std::optional<uint32_t>> owners);

}  // namespace tracewell::cli
