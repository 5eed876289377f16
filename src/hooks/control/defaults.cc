#include "hooks/control/defaults.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/files/planted.h"
#include "base/files/text_file.h"
#include "base/text/text.h"
#include "hooks/control/kept_way.h"

namespace tracewell::hooks {
namespace {

constexpr const char* kRootsFile = "/etc/tracewell/trace.conf";

/// Calls `with` (key, text or number) for each setting.
template <class AnyDefaults, class With>
void for_each_setting(AnyDefaults& defaults, const With& with) {
  with("log", defaults.log);
  with("component_folder", defaults.component_folder);
  with("log_bytes", defaults.log_bytes);
  with("buffer_bytes", defaults.buffer_bytes);
  with("user_buffer_max", defaults.user_buffer_max);
}

bool set(std::optional<std::string>& to, std::string_view value) {
  to = value;
  return value.starts_with('/');
}
bool set(std::optional<uint64_t>& to, std::string_view value) {
  to = parse_number(value);
  return to && *to != 0;
}

Result<Defaults> parse(std::string_view text, const std::string& path) {
  Defaults out;
  uint64_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const size_t middle = line.find(" = ");
    bool fits = false;
    if (middle != std::string_view::npos)
      for_each_setting(out, [&](std::string_view key, auto& value) {
        if (key == line.substr(0, middle)) fits = set(value, line.substr(middle + 3));
      });
    if (!fits)
      return {Errc::Corrupt, fmt::format("{}:{}: '{}' is no setting", printable(path), number,
                                         printable(line))};
  }
  return out;
}

std::string text_of(const Defaults& defaults) {
  std::string out;
  for_each_setting(defaults, [&](std::string_view key, const auto& value) {
    if (value) out += fmt::format("{} = {}\n", key, *value);
  });
  return out;
}

Result<std::string> read_text(const std::string& path) {
  if (!is_there(path)) return std::string();
  return read_text_file(path);
}

/// Its facts are then what they are when it has been read.
Result<std::string> read_held(Place& held, const std::string& path) {
  if (!held.at.valid()) return std::string();
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_held(held.at.get(), HeldUse::Read, path));
  TW_ASSIGN_OR_RETURN(const auto file, InputFile::of(std::move(fd), path));
  TW_ASSIGN_OR_RETURN(std::string text, text_of(*file));
  TW_ASSIGN_OR_RETURN(held.facts, facts_of(held.at.get(), path));
  return text;
}

Result<Defaults> read_file(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  return parse(text, path);
}

using ChangeOfFile = std::function<Result<std::string>(const std::string&, const FileFacts*)>;

/// `source` may be nullptr.
Status change_held(const std::string& path, const FileFacts* source, const ChangeOfFile& change,
                   std::chrono::milliseconds lock_wait) {
  TW_RETURN_IF_ERROR(make_folders(parent_of(path)));
  // The names of folders and links are followed once: what others make of them while it is waited
  // for the lock changes nothing.
  TW_ASSIGN_OR_RETURN(const Place named, place_beside(path));
  TW_ASSIGN_OR_RETURN(const Folder::Entry place, Folder::holding(named, path));
  TW_ASSIGN_OR_RETURN(const Place first, place.folder.is_link(place.name)
                                             ? write_place(path)
                                             : look_again(named, path));
  TW_RETURN_IF_ERROR(check_not_others(first, path));  // before there is a lock of ours beside it
  TW_ASSIGN_OR_RETURN(const UniqueFd lock,
                      place.folder.open_own(place.name + ".lock", Folder::Make::IfMissing));
  if (!wait_and_lock_file(lock.get(), lock_wait))
    return {Errc::Io, fmt::format("another process has locked {}, and did not let go of it "
                                  "(`fuser -v` of that file says which one)",
                                  printable(path + ".lock"))};
  TW_ASSIGN_OR_RETURN(Place held, look_again(first, path));
  TW_RETURN_IF_ERROR(check_not_others(held, path));
  TW_ASSIGN_OR_RETURN(const std::string before, read_held(held, path));
  const FileFacts* const facts = held.at.valid() ? &held.facts : nullptr;
  TW_ASSIGN_OR_RETURN(const std::string after, change(before, facts));
  if (after == before) return {};
  const FileFacts* const made_of = facts ? nullptr : source;
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create_instead(std::move(held), path, made_of));
  TW_RETURN_IF_ERROR(file.write(after));
  return file.commit();
}

}  // namespace

Result<std::string> state_path(const char* variable, const char* roots, const char* name,
                               StateUse use) {
  if (const char* named = ::secure_getenv(variable); named && *named) return std::string(named);
  if (::geteuid() == 0) return std::string(roots);
  const char* state = ::secure_getenv("XDG_STATE_HOME");
  const bool is_named = state && state[0] == '/';
  const char* home = ::secure_getenv("HOME");
  const std::string folder = is_named ? fmt::format("{}/tracewell", state)
                                      : fmt::format("{}/.local/state/tracewell", home ? home : "");
  const std::string way = folder.starts_with('/') ? folder : absolute_path(folder);
  Status kept = check_kept_usual_way(way);
  // What is made in a folder of everybody's is this user's, if nobody was faster.
  if (!kept && kept.error().code == Errc::NotFound && use == StateUse::Write) {
    TW_RETURN_IF_ERROR(make_folders(folder));
    kept = check_kept_usual_way(way);
  }
  if (kept.ok()) return fmt::format("{}/{}", folder, name);
  return Error{kept.error().code,
               fmt::format("{}; set ${} to a folder of your own", kept.error().message,
                           is_named ? "XDG_STATE_HOME" : "HOME, or $XDG_STATE_HOME,"),
               {}};
}

Result<std::string> defaults_path(StateUse use) {
  return state_path("TRACEWELL_DEFAULTS", kRootsFile, "trace.conf", use);
}

Result<Defaults> read_defaults() {
  Defaults out;
  if (const auto path = defaults_path(); path.ok()) {
    TW_ASSIGN_OR_RETURN(out, read_file(*path));
  }
  if (::geteuid() == 0) return out;
  TW_ASSIGN_OR_RETURN(const Defaults roots, read_file(kRootsFile));
  if (!out.log_bytes) out.log_bytes = roots.log_bytes;
  if (!out.buffer_bytes) out.buffer_bytes = roots.buffer_bytes;
  out.user_buffer_max = roots.user_buffer_max;
  return out;
}

Status change_defaults(const std::function<Status(Defaults& own)>& change) {
  TW_ASSIGN_OR_RETURN(const std::string path, defaults_path(StateUse::Write));
  return change_file(path, [&](const std::string& text) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(Defaults own, parse(text, path));
    TW_RETURN_IF_ERROR(change(own));
    return text_of(own);
  });
}

Status change_file(const std::string& path,
                   const std::function<Result<std::string>(const std::string& text)>& change,
                   std::chrono::milliseconds lock_wait) {
  const auto with = [&](const std::string& text, const FileFacts*) { return change(text); };
  return change_held(path, nullptr, with, lock_wait);
}

Status change_file(const std::string& path, const FileFacts& source, const ChangeOfFile& change) {
  return change_held(path, &source, change, std::chrono::seconds(30));
}

}  // namespace tracewell::hooks
