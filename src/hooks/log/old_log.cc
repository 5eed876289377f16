#include "hooks/log/old_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/files/owners.h"
#include "base/text/text.h"
#include "hooks/log/log_folder.h"
#include "hooks/log/log_use.h"

namespace tracewell::hooks {
namespace {

bool is_log(const Folder& folder) {
  const auto text = read_metadata(folder);
  return text.ok() && text->starts_with("/* CTF 1.8 */") &&
         text->find("tracewell") != std::string::npos;
}

/// What the making of a log leaves that ended before there was anything in it.
bool is_only_begun(const Folder& folder) {
  const auto names = folder.names();
  const bool rings_alone = names.ok() && (*names == std::vector<std::string>{kRingsName} ||
                                          *names == std::vector<std::string>{".lock", kRingsName});
  const auto rings = folder.inside(kRingsName);
  return rings_alone && rings.ok() && !has_rings(folder);
}

bool is_folder_in(const Folder& folder, const std::string& name) {
  const auto facts = folder.facts_of_name(name);
  return facts && facts->kind == FileFacts::Kind::Folder;
}

/// docs/formats/hooklog.md; and what OutputFile leaves that was killed over the metadata.
bool is_file_of_log(std::string_view name) {
  constexpr std::string_view kHalf = "metadata.";
  const bool half = name.starts_with(kHalf) &&
                    name.find_first_not_of("0123456789.", kHalf.size()) == name.npos;
  return name == "metadata" || name == ".lock" || half || is_stream_name(name);
}

/// Before anything goes: what is none of a log's would stop that half-way.
Status check_removable(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, log.names());
  for (const std::string& name : names) {
    const bool is_folder = is_folder_in(log, name);
    if (name == kRingsName ? is_folder : !is_folder && is_file_of_log(name)) continue;
    return {Errc::InvalidArgument,
            fmt::format("{} is {}no part of the log that it is in: move it elsewhere, or name "
                        "another log",
                        printable(log.path_of(name)), is_folder ? "a folder, and " : "")};
  }
  return {};
}

bool has_name(const Folder& parent, const std::string& name, const Folder& log) {
  const auto held = log.facts();
  const auto named = parent.facts_of_name(name);
  return held.ok() && named && named->is_same(*held);
}

}  // namespace

Error exchanged(const Folder& parent, const std::string& name) {
  return {Errc::InvalidArgument,
          fmt::format("{} was exchanged for something else meanwhile, which stays as it is: who "
                      "else may write to {}? (-o names another log)",
                      printable(parent.path_of(name)), printable(parent.path())),
          {}};
}

/// Some file systems let everybody write; of root, that would be too much to ask.
Status check_alone(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, log.facts());
  const std::string path = printable(log.path());
  if (!is_own_user(facts.owner))
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

Result<Folder> open_old_log(const Folder& parent, const std::string& name) {
  const std::string path = printable(parent.path_of(name));
  if (parent.is_link(name))
    return {Errc::InvalidArgument,
            fmt::format("{} is a symbolic link; name what it leads to", path)};
  const Error no_log{Errc::InvalidArgument,
                     fmt::format("{} is there, and is no log of trace hooks", path),
                     {}};
  if (!is_folder_in(parent, name)) return no_log;
  auto log = parent.inside(name);
  if (!log.ok() || (::faccessat(log->fd(), "metadata", R_OK, 0) != 0 && errno == EACCES))
    return errno_error(EACCES, fmt::format("cannot read {}/metadata, to see whether it is a log "
                                           "that may go (name another one with -o)",
                                           path));
  if (!is_log(*log) && !is_only_begun(*log)) return no_log;
  TW_RETURN_IF_ERROR(check_alone(*log));
  TW_RETURN_IF_ERROR(check_nobody_writes(*log));
  return log;
}

Status remove_log(const Folder& parent, const std::string& name, const Folder& log) {
  TW_RETURN_IF_ERROR(check_removable(log));
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, log.names());
  for (const std::string& one : names)
    if (one == kRingsName)
      TW_RETURN_IF_ERROR(log.remove_folder(one));
    else if (is_file_of_log(one))
      TW_RETURN_IF_ERROR(log.remove(one));
  if (!has_name(parent, name, log)) return exchanged(parent, name);
  // At worst, what has the name by now is an empty folder.
  return parent.remove_folder(name);
}

Status rename_log(const Folder& parent, const std::string& name, const Folder& log,
                  const std::string& to) {
  if (!has_name(parent, name, log)) return exchanged(parent, name);
  TW_RETURN_IF_ERROR(parent.rename_folder(name, to));
  if (!has_name(parent, to, log)) return exchanged(parent, to);
  return {};
}

}  // namespace tracewell::hooks
