#include "base/files/paths.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/files/open.h"
#include "base/text/text.h"

namespace tracewell {

namespace fs = std::filesystem;

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

std::string temporary_folder() {
  const char* named = ::secure_getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

}  // namespace tracewell
