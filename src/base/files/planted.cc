#include "base/files/planted.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/owners.h"
#include "base/text/text.h"

namespace tracewell {
namespace {

std::string_view kind_of(const Place& place) {
  struct stat status = {};
  if (place.facts.kind == FileFacts::Kind::Regular) return "file";
  if (::fstat(place.at.get(), &status) == 0 && S_ISFIFO(status.st_mode)) return "FIFO";
  return "special file";
}

}  // namespace

uint32_t mode_of_made() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

Status check_not_planted(const Place& place, const std::string& path) {
  if (!place.folder.valid() || !place.at.valid() || place.facts.kind == FileFacts::Kind::Folder)
    return {};
  const uint32_t owner = place.facts.owner;
  TW_ASSIGN_OR_RETURN(const FileFacts folder, facts_of(place.folder.get(), path));
  const bool everybodys = (folder.mode & S_ISVTX) != 0 && (folder.mode & 0022) != 0;
  const bool trusted = is_own_user(owner) || owner == 0 || is_same_user(owner, folder.owner);
  if (everybodys && !trusted)
    return {Errc::InvalidArgument,
            fmt::format("cannot write {}: a {} of {} has that name, in a folder where others may "
                        "put one first; remove it, or name another file",
                        printable(path), kind_of(place), user_name(owner))};
  const uint32_t readers = place.facts.mode & 0044 & ~mode_of_made();
  if (is_own_user(owner) && others_may_put(folder) && readers != 0)
    return {Errc::InvalidArgument,
            fmt::format("cannot write {}: a {} of that name is there that others may read (mode "
                        "{:03o}), in a folder where they may put one first; remove it, or change "
                        "its mode",
                        printable(path), kind_of(place), place.facts.mode)};
  return {};
}

Status check_not_others(const Place& place, const std::string& path) {
  const uint32_t owner = place.facts.owner;
  if (!place.at.valid() || is_own_user(owner) || owner == 0) return {};
  return {Errc::InvalidArgument,
          fmt::format("cannot change {}: it belongs to {}, and would be yours then; change it as "
                      "that user, or a copy of your own",
                      printable(path), user_name(owner))};
}

}  // namespace tracewell
