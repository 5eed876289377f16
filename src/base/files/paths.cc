#include "base/files/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/text/text.h"

namespace tracewell {

namespace fs = std::filesystem;

namespace {

/// What root makes stays where it was made: nobody else may move it, or put another into its place.
Status check_place_of_roots(const Folder& folder) {
  if (::geteuid() != 0) return {};
  TW_ASSIGN_OR_RETURN(const FileFacts facts, folder.facts());
  const bool open = (facts.mode & 0022) != 0 && (facts.mode & S_ISVTX) == 0;
  if (facts.owner == 0 && !open) return {};
  return {Errc::InvalidArgument, fmt::format("others may write to {}: root makes no folder there",
                                             printable(folder.path()))};
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const fs::path out = fs::absolute(path, failed);
  return failed ? path : out.lexically_normal().string();
}

std::optional<std::string> real_path(const std::string& path) {
  std::error_code failed;
  const fs::path out = fs::canonical(path, failed);
  if (failed) return std::nullopt;
  return out.string();
}

bool has_detours(std::string_view path) {
  if (path.find('/') == std::string_view::npos) return false;
  if (!path.starts_with('/')) return true;
  for (const std::string_view part : split(path.substr(1), '/'))
    if (part.empty() || part == "." || part == "..") return true;
  return false;
}

std::string parent_of(const std::string& path) {
  const std::string out = fs::path(path).parent_path().string();
  return out.empty() ? "." : out;
}

std::string file_name_of(const std::string& path) { return fs::path(path).filename().string(); }

bool is_there(const std::string& path) { return facts_at(path).has_value(); }

bool is_regular_file(const std::string& path) {
  const auto facts = facts_at(path);
  return facts && facts->kind == FileFacts::Kind::Regular;
}

bool is_folder(const std::string& path) {
  const auto facts = facts_at(path);
  return facts && facts->kind == FileFacts::Kind::Folder;
}

bool is_surely_missing(const std::string& path) {
  return !facts_at(path) && (errno == ENOENT || errno == ENOTDIR);
}

bool is_same_file(const std::string& one, const std::string& other) {
  const auto first = facts_at(one), second = facts_at(other);
  return first && second && first->is_same(*second);
}

std::optional<std::string> link_text(const std::string& path) {
  std::error_code failed;
  const fs::path out = fs::read_symlink(path, failed);
  if (failed) return std::nullopt;
  return out.string();
}

Status make_folders(const std::string& path) {
  if (is_folder(path)) return {};
  const size_t name = path.find_last_not_of('/');
  if (name == std::string::npos) return {Errc::InvalidArgument, "a folder's name is empty"};
  const std::string plain = path.substr(0, name + 1);
  if (const std::string above = parent_of(plain); above != plain)
    TW_RETURN_IF_ERROR(make_folders(above));
  if (is_folder(plain)) return {};  // "made/.."
  TW_ASSIGN_OR_RETURN(const Folder::Entry place, Folder::around(plain));
  TW_RETURN_IF_ERROR(check_place_of_roots(place.folder));
  // The kernel takes the umask away. No mode is set afterwards: by then another folder of this
  // user's may have the name.
  TW_RETURN_IF_ERROR(place.folder.make_inside(place.name, false, 0777));
  return {};
}

std::string temporary_folder() {
  const char* named = ::secure_getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

}  // namespace tracewell
