#include "hooks/log/log_owner.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "formats/hooklog/packets.h"

namespace tracewell::hooks {
namespace {

using Owner = std::optional<uint32_t>;

/// A number that stands for several users is nobody's.
Owner one_user(uint32_t owner) {
  return is_same_user(owner, owner) ? Owner(owner) : std::nullopt;
}

/// Everybody who may put files there may exchange them after they have been looked at.
bool is_all_of(const Folder& folder, uint32_t owner) {
  const auto facts = folder.facts();
  return facts.ok() && facts->owner == owner && (facts->mode & 0002) == 0;
}

/// What cannot be opened is not read, either. A file that everybody may write is nobody's.
bool files_are_of(const Folder& folder, const std::vector<std::string>& names, uint32_t owner) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const auto file = folder.open(name);
    if (!file.ok()) return true;
    const auto facts = facts_of(file->get(), name);
    return facts.ok() && facts->owner == owner && (facts->mode & 0002) == 0;
  });
}

Owner owner_of_folder(const Folder& folder) {
  const auto facts = folder.facts();
  if (!facts.ok() || !is_all_of(folder, facts->owner)) return std::nullopt;
  const uint32_t owner = facts->owner;
  auto names = formats::hooklog_files(folder);
  if (!names.ok()) return std::nullopt;
  names->emplace_back("metadata");
  if (!files_are_of(folder, *names, owner)) return std::nullopt;
  const auto rings = formats::hooklog_rings(folder);
  if (rings.ok() && *rings) {
    const auto in_rings = formats::hooklog_files(**rings);
    if (!in_rings.ok() || !is_all_of(**rings, owner) || !files_are_of(**rings, *in_rings, owner))
      return std::nullopt;
  }
  return one_user(owner);
}

/// A folder is opened by its name after the file in it: the name may lead elsewhere by then.
bool has_file(const Folder& folder, const InputFile& file) {
  const auto there = folder.facts_of_name(file_name_of(file.path()));
  return there && there->is_same(file.facts());
}

}  // namespace

std::optional<uint32_t> owner_of_log(const LogName& name) {
  const auto facts = facts_at(name.path == "-" ? "/dev/stdin" : name.path);
  if (!facts) return std::nullopt;
  if (name.found_in || facts->kind == FileFacts::Kind::Folder) {
    const auto folder = Folder::found_in(name.found_in.get(), name.path);
    return folder.ok() ? owner_of_folder(*folder) : std::nullopt;
  }
  if (facts->kind != FileFacts::Kind::Regular || (facts->mode & 0002) != 0) return std::nullopt;
  return one_user(facts->owner);
}

std::optional<uint32_t> owner_of_open_log(const InputFile* file, bool in_folder,
                                          const Folder* folder) {
  if (file == nullptr) return folder != nullptr ? owner_of_folder(*folder) : std::nullopt;
  const FileFacts& facts = file->facts();
  if (facts.kind != FileFacts::Kind::Regular || (facts.mode & 0002) != 0) return std::nullopt;
  // Also where one of them was named.
  if (in_folder)
    return folder != nullptr && has_file(*folder, *file) ? owner_of_folder(*folder) : std::nullopt;
  return one_user(facts.owner);
}

std::vector<std::optional<uint32_t>> owners_of_logs(std::span<const LogName> names) {
  std::vector<std::optional<uint32_t>> out;
  for (const LogName& name : names) out.push_back(owner_of_log(name));
  return out;
}

bool are_several(std::span<const std::optional<uint32_t>> owners) {
  return std::ranges::adjacent_find(owners, [](const auto& one, const auto& next) {
           return !one || !next || *one != *next;
         }) != owners.end();
}

}  // namespace tracewell::hooks
