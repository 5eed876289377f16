// The folder of a log: made, in the place of an older one, and removed.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "hooks/log_folder.h"
#include "hooks/log_use.h"
#include "hooks/ring_file.h"

namespace tracewell::hooks {
namespace {

bool is_log(const std::string& path) {
  const auto file = InputFile::open(path + "/metadata");
  return file.ok() && as_text((*file)->bytes()).starts_with("/* CTF 1.8 */") &&
         as_text((*file)->bytes()).find("tracewell") != std::string_view::npos;
}

/// Of what is in a folder; none where it cannot be read.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  std::ranges::sort(out);
  return out;
}

/// What the making of a log leaves that ended before there was anything in it.
bool is_only_begun(const std::string& path) {
  const std::vector<std::string> names = names_in(path);
  const bool rings_alone = names == std::vector<std::string>{".rings"} ||
                           names == std::vector<std::string>{".lock", ".rings"};
  struct stat about {};
  return rings_alone && ::lstat((path + "/.rings").c_str(), &about) == 0 &&
         S_ISDIR(about.st_mode) && names_in(path + "/.rings").empty();
}

/// Before anything goes: a folder in it that is none of a log's would stop that half-way.
Status check_removable(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), ::closedir);
  if (!entries) return errno_error("cannot look into " + path);
  const bool is_rings = path.ends_with("/.rings");
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    const std::string one = fmt::format("{}/{}", path, name);
    struct stat about {};
    if (name == "." || name == ".." || ::lstat(one.c_str(), &about) != 0 ||
        !S_ISDIR(about.st_mode))
      continue;
    if (is_rings || name != ".rings")
      return {Errc::InvalidArgument,
              fmt::format("{} is a folder, and no part of the log that it is in: move it "
                          "elsewhere, or name another log",
                          printable(one))};
    TW_RETURN_IF_ERROR(check_removable(one));
  }
  return {};
}

/// All files in it, and it; no folder in it but that of rings.
Status remove_log_files(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), ::closedir);
  if (!entries) return errno_error("cannot look into " + path);
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    const std::string one = fmt::format("{}/{}", path, name);
    if (name == "." || name == "..") continue;
    if (name == ".rings")
      TW_RETURN_IF_ERROR(remove_log_files(one));
    else if (::unlink(one.c_str()) != 0)
      return errno_error("cannot remove " + one);
  }
  if (::rmdir(path.c_str()) != 0) return errno_error("cannot remove " + path);
  return {};
}

/// Nobody else may put something else into the place of what is there while we look at it.
Status check_parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  struct stat about {};
  if (::stat(parent.c_str(), &about) != 0)
    return errno_error(fmt::format("cannot look at {} (-o names another log)", printable(parent)));
  const bool ours = about.st_uid == ::geteuid() || about.st_uid == 0;
  const bool open = (about.st_mode & 0022) != 0 && (about.st_mode & S_ISVTX) == 0;
  if (::geteuid() == 0 && (!ours || open))
    return {Errc::InvalidArgument,
            fmt::format("others may write to {}: no place for a log of root's",
                        printable(parent))};
  return {};
}

/// `path` is there: is it a log that may be replaced?
Status check_old_log(const std::string& path, const struct stat& about) {
  if (S_ISLNK(about.st_mode))
    return {Errc::InvalidArgument,
            fmt::format("{} is a symbolic link; name what it leads to", printable(path))};
  if (S_ISDIR(about.st_mode) && ::access((path + "/metadata").c_str(), R_OK) != 0 &&
      errno == EACCES)
    return errno_error(fmt::format("cannot read {}/metadata, to see whether it is a log that may "
                                   "go (name another one with -o)",
                                   printable(path)));
  if (!S_ISDIR(about.st_mode) || (!is_log(path) && !is_only_begun(path)))
    return {Errc::InvalidArgument,
            fmt::format("{} is there, and is no log of trace hooks", printable(path))};
  if (about.st_uid != ::geteuid())
    return {Errc::InvalidArgument, fmt::format("{} is somebody else's log", printable(path))};
  return check_nobody_writes(path);
}

/// Why they are there, and what to do with them, is another question for each kind.
Error rings_in_the_way(const std::string& path, bool keep_old) {
  const std::string log = printable(path);
  const std::string keep =
      keep_old ? "name another log" : fmt::format("-c keeps all as {}.old", log);
  for (const std::string& name : names_in(path + "/.rings")) {
    const std::string one = fmt::format("{}/.rings/{}", path, name);
    const auto ring = RingFile::open(one);
    if (!ring.ok() && ring.error().code == Errc::Io) return ring.error();
    if (!ring.ok())
      return {Errc::InvalidArgument,
              fmt::format("{} is no ring of trace hooks, and would go with the log: move it "
                          "elsewhere; {}",
                          printable(one), keep),
              {}};
    if (!is_log_of(path, (*ring)->session()))
      return {Errc::InvalidArgument,
              fmt::format("{0} has hooks of another session than the log that it is in, which "
                          "nobody has collected: `trcdead -o OTHER_LOG {0}` does, remove it then; "
                          "{1}",
                          printable(one), keep),
              {}};
  }
  return {Errc::InvalidArgument,
          fmt::format("{0} has hooks that nobody has collected: `trcdead {0}` does; {1}", log,
                      keep),
          {}};
}

}  // namespace

bool has_rings(const std::string& path) { return !names_in(path + "/.rings").empty(); }

Status make_log_folder(const std::string& path, const std::string& old) {
  const bool keep_old = !old.empty();
  struct stat about {};
  TW_RETURN_IF_ERROR(check_parent(path));
  if (::lstat(path.c_str(), &about) == 0) {
    TW_RETURN_IF_ERROR(check_old_log(path, about));
    if (!keep_old && has_rings(path)) return rings_in_the_way(path, keep_old);
    if (keep_old && has_rings(old)) return rings_in_the_way(old, keep_old);
    if (keep_old && ::lstat(old.c_str(), &about) == 0) {
      TW_RETURN_IF_ERROR(check_old_log(old, about));
      TW_RETURN_IF_ERROR(check_removable(old));
      TW_RETURN_IF_ERROR(remove_log_files(old));
    }
    if (!keep_old) {
      TW_RETURN_IF_ERROR(check_removable(path));
      TW_RETURN_IF_ERROR(remove_log_files(path));
    } else if (::rename(path.c_str(), old.c_str()) != 0) {
      return errno_error("cannot rename " + path);
    }
  }
  if (::mkdir(path.c_str(), 0700) != 0)
    return errno_error(fmt::format("cannot make {} (-o names another log)", printable(path)));
  const std::string rings = path + "/.rings";
  if (::mkdir(rings.c_str(), 0700) == 0) return {};
  const Error error = errno_error("cannot make " + rings);
  ::rmdir(path.c_str());
  return error;
}

Status remove_log_folder(const std::string& path) { return remove_log_files(path); }

}  // namespace tracewell::hooks
