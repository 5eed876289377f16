#include "cli/save_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/trace_files.h"
#include "formats/format.h"

namespace tracewell::cli {
namespace {

Error refused(std::string_view name, std::string_view why) {
  return {Errc::InvalidArgument, fmt::format("cannot save to '{}': {}", printable(name), why), {}};
}

/// The folder `name` inside `folder`, reached without symbolic links and without leaving it.
UniqueFd open_inside(int folder, const std::string& name) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how)));
}

}  // namespace

Status SaveFolder::set_folder(const std::string& path) {
  if (path.empty()) {
    folder_.clear();
    return {};
  }
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_directory(absolute, error))
    return {Errc::InvalidArgument, fmt::format("'{}' is not a folder", printable(path))};
  folder_ = absolute.string();
  return {};
}

Result<std::string> SaveFolder::path_of(std::string_view name) const {
  if (folder_.empty())
    return refused(name, "this server saves nothing; start it with --save-dir DIR, or use "
                         "`monitor set save-dir DIR`");
  if (name.find('\0') != name.npos) return refused(name, "there is a zero byte in it");
  const std::filesystem::path path(name);
  if (path.is_absolute()) return refused(name, "only names inside the save folder are allowed");
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..")
    return refused(name, "that does not name a file");
  const UniqueFd folder(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return errno_error("cannot open " + folder_);
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  const UniqueFd inside = open_inside(folder.get(), parent);
  if (!inside.valid()) {
    if (errno == EXDEV || errno == ELOOP)
      return refused(name, "only names inside the save folder are allowed");
    return errno_error(fmt::format("cannot save to '{}'", printable(name)));
  }
  struct stat present {};
  const std::string leaf = path.filename().string();
  const bool exists = ::fstatat(inside.get(), leaf.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(present.st_mode)) return refused(name, "what is there is no plain file");
  if (exists && !overwrite_)
    return refused(name, "it exists already, and the server was not told --save-overwrite");
  return folder_ + "/" + path.string();
}

Status SaveFolder::save(std::string_view name, Source& source) const {
  TW_ASSIGN_OR_RETURN(const std::string path, path_of(name));
  using Existing = OutputFile::Existing;
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, overwrite_ ? Existing::Replace
                                                                           : Existing::Keep));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                      formats::find_format("tfile")->create(std::move(file), {}));
  return pump(source, *sink);
}

}  // namespace tracewell::cli
