// The folder of a log: made, in the place of an older one, and removed.
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/message.h"
#include "base/text/text.h"
#include "hooks/log/log_folder.h"
#include "hooks/log/log_use.h"
#include "hooks/log/old_log.h"
#include "hooks/rings/ring_file.h"

namespace tracewell::hooks {
namespace {

/// Of what is in a folder; none where it cannot be read.
std::vector<std::string> names_in(const Result<Folder>& folder) {
  if (!folder.ok()) return {};
  auto names = folder->names();
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

/// May nobody but root exchange what is in it? `owner_of_all` is that of "/": in a user namespace
/// without a number for the real root, it is nobody's, and so are the folders of the system.
bool is_roots_alone(const FileFacts& folder, uint32_t owner_of_all) {
  const bool ours = is_own_user(folder.owner) || folder.owner == 0 ||
                    (folder.owner == kUnmappedUser && owner_of_all == kUnmappedUser);
  return ours && ((folder.mode & 0022) == 0 || (folder.mode & S_ISVTX) != 0);
}

/// For root: nobody else may put something else into the place of what is there, nor of a folder on
/// the way. Whoever could change where the folder is has one that is on the way to it.
Status check_parent(const Folder& parent) {
  if (::geteuid() != 0) return {};
  const auto all = facts_at("/");
  const uint32_t owner_of_all = all ? all->owner : 0;
  TW_ASSIGN_OR_RETURN(const FileFacts own, parent.facts());
  std::string bad;
  if (!is_roots_alone(own, 0)) bad = parent.path();
  std::string at = link_text(fmt::format("/proc/self/fd/{}", parent.fd()))
                       .value_or(absolute_path(parent.path()));
  while (bad.empty() && at.size() > 1) {
    at = parent_of(at);
    const auto facts = facts_at(at);
    if (!facts || !is_roots_alone(*facts, owner_of_all)) bad = at;
  }
  if (bad.empty()) return {};
  return {Errc::InvalidArgument,
          fmt::format("others may write to {}: no place for a log of root's", printable(bad))};
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

/// Where others give names, what has this one may be another log of this user's: to clear it would
/// do what they cannot. Of a folder that a group may write to, nobody can tell who is in it.
Status check_may_clear(const Folder& parent, const std::string& name) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, parent.facts());
  const bool theirs = !is_own_user(facts.owner) && facts.owner != 0;
  if (!theirs && ((facts.mode & 0002) == 0 || (facts.mode & S_ISVTX) != 0)) return {};
  return {Errc::InvalidArgument,
          fmt::format("{} is there, and others may have put it there, who can write to {}: move it "
                      "away, or name another log",
                      printable(parent.path_of(name)), printable(parent.path()))};
}

/// What is there goes, or is called `old` from then on; that goes before.
Status clear_place(const Folder& parent, const std::string& name, const std::string& old) {
  TW_ASSIGN_OR_RETURN(const Folder log, open_old_log(parent, name));
  if (old.empty()) {
    TW_RETURN_IF_ERROR(check_may_clear(parent, name));
    if (has_rings(log)) return rings_in_the_way(log, false);
    return remove_log(parent, name, log);
  }
  if (parent.facts_of_name(old)) {
    if (const auto before = parent.inside(old); before.ok() && has_rings(*before))
      return rings_in_the_way(*before, true);
    TW_RETURN_IF_ERROR(check_may_clear(parent, old));
    TW_ASSIGN_OR_RETURN(const Folder before, open_old_log(parent, old));
    TW_RETURN_IF_ERROR(remove_log(parent, old, before));
  }
  return rename_log(parent, name, log, old);
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
  // A folder is made first and opened then: it may be another one of this user's by now.
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> there, log->names());
  if (!there.empty()) return exchanged(parent, name);
  if (const auto rings = log->make_inside(kRingsName, true); !rings.ok()) {
    best_effort(remove_log(parent, name, *log));
    return rings.error();
  }
  TW_RETURN_IF_ERROR(parent.sync());
  return log;
}

Status remove_log_folder(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const Folder::Entry place, Folder::around(log.path()));
  return remove_log(place.folder, place.name, log);
}

}  // namespace tracewell::hooks
