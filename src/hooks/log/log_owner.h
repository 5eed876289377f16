// Whose logs a report is made of: what one user's events decide for those behind them, they decide
// for that user's logs alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/files/folder.h"

namespace tracewell::hooks {

/// A log as it was named, or found.
struct LogName {
  std::string path;
  std::shared_ptr<const Folder> found_in = {};  // nullptr = it was named
};

/// Of a file: its owner. Of a log of trace hooks: that of its folder, where all of its files have
/// the same one and not everybody may put some there. nullopt: it has no one owner, as a pipe, or
/// it cannot be known.
std::optional<uint32_t> owner_of_log(const LogName& name);
/// The same of one that is open, whatever has its name by now. `file`: of it; nullptr: it is read
/// from `folder` alone. `in_folder`: it is a log of trace hooks, whose files are in a folder; there
/// is no owner if the open file is not the one in `folder`, or if that is nullptr.
std::optional<uint32_t> owner_of_open_log(const InputFile* file, bool in_folder,
                                          const Folder* folder);

/// Of each.
std::vector<std::optional<uint32_t>> owners_of_logs(std::span<const LogName> names);

/// Are the logs of several owners? One without owner is like no other.
bool are_several(std::span<const std::optional<uint32_t>> owners);

}  // namespace tracewell::hooks
