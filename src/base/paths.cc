#include "base/paths.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/open.h"
#include "base/text.h"

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
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed)
    return {Errc::Io, fmt::format("cannot make {}: {}", printable(path), failed.message())};
  return {};
}

std::string temporary_folder() {
  const char* named = ::secure_getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

}  // namespace tracewell
