// The folder of a log: made, in the place of an older one, and removed.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/message.h"
#include "base/text.h"
#include "hooks/log_folder.h"
#include "hooks/log_use.h"
#include "hooks/ring_file.h"

namespace tracewell::hooks {
namespace {

bool is_log(const Folder& folder) {
  const auto text = read_metadata(folder);
  return text.ok() && text->starts_with("/* CTF 1.8 */") &&
         text->find("tracewell") != std::string::npos;
}

/// Of what is in a folder; none where it cannot be read.
std::vector<std::string> names_in(const Result<Folder>& folder) {
  if (!folder.ok()) return {};
  auto names = folder->names();
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

/// What the making of a log leaves that ended before there was anything in it.
bool is_only_begun(const Folder& folder) {
  const auto names = folder.names();
  const bool rings_alone = names.ok() && (*names == std::vector<std::string>{kRingsName} ||
                                          *names == std::vector<std::string>{".lock", kRingsName});
  const auto rings = folder.inside(kRingsName);
  return rings_alone && rings.ok() && names_in(rings).empty();
}

bool is_folder_in(const Folder& folder, const std::string& name) {
  const auto facts = folder.facts_of_name(name);
  return facts && facts->kind == FileFacts::Kind::Folder;
}

/// Before anything goes: a folder in it that is none of a log's would stop that half-way.
Status check_removable(const Folder& log, bool is_rings = false) {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, log.names());
  for (const std::string& name : names) {
    if (!is_folder_in(log, name)) continue;
    if (is_rings || name != kRingsName)
      return {Errc::InvalidArgument,
              fmt::format("{} is a folder, and no part of the log that it is in: move it "
                          "elsewhere, or name another log",
                          printable(log.path_of(name)))};
    TW_ASSIGN_OR_RETURN(const Folder rings, log.inside(name));
    TW_RETURN_IF_ERROR(check_removable(rings, true));
  }
  return {};
}

/// All files in it, and it; no folder in it but that of rings.
Status remove_log_files(const Folder& parent, const std::string& log) {
  TW_ASSIGN_OR_RETURN(const Folder folder, parent.inside(log));
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.names());
  for (const std::string& name : names)
    if (name == kRingsName && is_folder_in(folder, name))
      TW_RETURN_IF_ERROR(remove_log_files(folder, name));
    else
      TW_RETURN_IF_ERROR(folder.remove(name));
  return parent.remove_folder(log);
}

/// Nobody else may put something else into the place of what is there while we look at it.
Status check_parent(const Folder& parent) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, parent.facts());
  const bool ours = facts.owner == ::geteuid() || facts.owner == 0;
  const bool open = (facts.mode & 0022) != 0 && (facts.mode & S_ISVTX) == 0;
  if (::geteuid() == 0 && (!ours || open))
    return {Errc::InvalidArgument,
            fmt::format("others may write to {}: no place for a log of root's",
                        printable(parent.path()))};
  return {};
}

/// Some file systems let everybody write; of root, that would be too much to ask.
Status check_alone(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, log.facts());
  const std::string path = printable(log.path());
  if (facts.owner != ::geteuid())
    return {Errc::InvalidArgument,
            fmt::format("{} is somebody else's log (it belongs to {}): nothing is written to it; "
                        "-o names another one",
                        path, user_name(facts.owner))};
  if (::geteuid() == 0 && (facts.mode & 0022) != 0)
    return {Errc::InvalidArgument,
            fmt::format("others may write to the log {}, so nothing is written to it (chmod go-w)",
                        path)};
  return {};
}

/// What has this name is there: is it a log that may be replaced?
Status check_old_log(const Folder& parent, const std::string& name) {
  const std::string path = printable(parent.path_of(name));
  if (parent.is_link(name))
    return {Errc::InvalidArgument,
            fmt::format("{} is a symbolic link; name what it leads to", path)};
  const Error no_log{Errc::InvalidArgument,
                     fmt::format("{} is there, and is no log of trace hooks", path),
                     {}};
  if (!is_folder_in(parent, name)) return no_log;
  const auto log = parent.inside(name);
  if (!log.ok() || (::faccessat(log->fd(), "metadata", R_OK, 0) != 0 && errno == EACCES))
    return errno_error(EACCES, fmt::format("cannot read {}/metadata, to see whether it is a log "
                                           "that may go (name another one with -o)",
                                           path));
  if (!is_log(*log) && !is_only_begun(*log)) return no_log;
  TW_RETURN_IF_ERROR(check_alone(*log));
  return check_nobody_writes(*log);
}

/// Why they are there, and what to do with them, is another question for each kind.
Error rings_in_the_way(const Folder& folder, bool keep_old) {
  const std::string log = printable(folder.path());
  const std::string keep =
      keep_old ? "name another log" : fmt::format("-c keeps all as {}.old", log);
  const auto rings = folder.inside(kRingsName);
  for (const std::string& name : names_in(rings)) {
    const std::string one = printable(rings->path_of(name));
    const auto ring = RingFile::open(*rings, name);
    if (!ring.ok() && ring.error().code == Errc::Io) return ring.error();
    if (!ring.ok())
      return {Errc::InvalidArgument,
              fmt::format("{} is no ring of trace hooks, and would go with the log: move it "
                          "elsewhere; {}",
                          one, keep),
              {}};
    if (!is_log_of(folder, (*ring)->session()))
      return {Errc::InvalidArgument,
              fmt::format("{0} has hooks of another session than the log that it is in, which "
                          "nobody has collected: `trcdead -o OTHER_LOG {0}` does, remove it then; "
                          "{1}",
                          one, keep),
              {}};
  }
  return {Errc::InvalidArgument,
          fmt::format("{0} has hooks that nobody has collected: `trcdead {0}` does; {1}", log,
                      keep),
          {}};
}

/// What is there goes, or is called `old` from then on; that goes before.
Status clear_place(const Folder& parent, const std::string& name, const std::string& old) {
  TW_RETURN_IF_ERROR(check_old_log(parent, name));
  if (old.empty()) {
    TW_ASSIGN_OR_RETURN(const Folder log, parent.inside(name));
    if (has_rings(log)) return rings_in_the_way(log, false);
    TW_RETURN_IF_ERROR(check_removable(log));
    return remove_log_files(parent, name);
  }
  if (parent.facts_of_name(old)) {
    if (const auto before = parent.inside(old); before.ok() && has_rings(*before))
      return rings_in_the_way(*before, true);
    TW_RETURN_IF_ERROR(check_old_log(parent, old));
    TW_ASSIGN_OR_RETURN(const Folder before, parent.inside(old));
    TW_RETURN_IF_ERROR(check_removable(before));
    TW_RETURN_IF_ERROR(remove_log_files(parent, old));
  }
  return parent.rename(name, old);
}

Error elsewhere(Error error, const std::string& path) {
  return hinting(std::move(error), printable(path), "(-o names another log)");
}

}  // namespace

bool has_rings(const Folder& log) { return !names_in(log.inside(kRingsName)).empty(); }

Result<Folder> open_own_log(const std::string& path) {
  TW_ASSIGN_OR_RETURN(Folder log, Folder::named_to_write(path));
  TW_RETURN_IF_ERROR(check_alone(log));
  return log;
}

Result<Folder> make_log_folder(const std::string& path, const std::string& old) {
  auto place = Folder::around(path);
  if (!place.ok()) return elsewhere(std::move(place).error(), path);
  const auto& [parent, name] = *place;
  TW_RETURN_IF_ERROR(check_parent(parent));
  if (parent.facts_of_name(name))
    TW_RETURN_IF_ERROR(clear_place(parent, name, old));
  auto log = parent.make_inside(name, true);
  if (!log.ok()) return elsewhere(std::move(log).error(), path);
  log->call(path);
  TW_RETURN_IF_ERROR(check_alone(*log));
  if (const auto rings = log->make_inside(kRingsName, true); !rings.ok()) {
    static_cast<void>(parent.remove_folder(name));
    return rings.error();
  }
  TW_RETURN_IF_ERROR(parent.sync());
  return log;
}

Status remove_log_folder(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const Folder::Entry place, Folder::around(path));
  return remove_log_files(place.folder, place.name);
}

}  // namespace tracewell::hooks
