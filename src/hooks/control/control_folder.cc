// Where programs and commands of a user meet: the folder of the control file. Each looks for it by
// itself, so both go by one rule, which docs/decisions/0008-trace-hooks.md has; here are commands,
// and src/inproc/meeting.c is for programs.
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/message.h"
#include "base/text/text.h"
#include "hooks/control/control.h"
#include "hooks/control/kept_way.h"
#include "hooks/control/tmp_folder.h"

namespace tracewell::hooks {
namespace {

constexpr const char* kElsewhere = "$XDG_RUNTIME_DIR names the folder that it is in";

Error with_hint(Error error, const std::string& path) {
  return hinting(std::move(error), printable(path), fmt::format("({})", kElsewhere));
}

/// InvalidArgument: others could put something else into its place, or have; it is passed over.
Result<Folder::Entry> find_place(const std::string& path) {
  TW_RETURN_IF_ERROR(check_kept_way(parent_of(path)));
  TW_ASSIGN_OR_RETURN(Folder::Entry place, Folder::around(path));
  const auto own = place.folder.facts_of_name(place.name);
  if (own && !is_own_user(own->owner) && own->owner != 0)
    return Error{Errc::InvalidArgument,
                 fmt::format("{} belongs to {}", printable(path), user_name(own->owner)), {}};
  return place;
}

bool is_passed_over(const Result<Folder::Entry>& place) {
  return !place.ok() && place.error().code == Errc::InvalidArgument;
}

/// Those before that in /tmp, the first one first.
std::vector<std::string> places() {
  std::vector<std::string> out;
  const char* runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  if (runtime && runtime[0] == '/') out.push_back(std::string(runtime) + "/tracewell");
  const std::string usual = fmt::format("/run/user/{}", ::geteuid());
  const auto facts = facts_at(usual);
  if (facts && is_own_user(facts->owner)) out.push_back(usual + "/tracewell");
  return out;
}

struct Choice {
  std::string path;
  std::string instead;  // why one before it is none; "" = it is the first
};

Choice choose() {
  Choice out;
  for (std::string& path : places()) {
    const auto place = find_place(path);
    out.path = std::move(path);
    if (!is_passed_over(place)) return out;
    if (out.instead.empty()) out.instead = place.error().message;
  }
  out.path = folder_in_tmp();
  return out;
}

}  // namespace

std::string control_folder() { return choose().path; }

std::optional<std::string> control_folder_trouble() {
  const Choice choice = choose();
  if (choice.instead.empty()) return folder_trouble(choice.path);
  return fmt::format("{}, so {} is used instead ({})", choice.instead, printable(choice.path),
                     "set $XDG_RUNTIME_DIR to a folder of your own, or unset it");
}

Result<Folder> make_control_folder() {
  for (const std::string& path : places()) {
    const auto place = find_place(path);
    if (is_passed_over(place)) continue;
    if (!place.ok()) return with_hint(place.error(), path);
    auto folder = place->folder.make_inside(place->name);
    if (!folder.ok()) return with_hint(std::move(folder).error(), path);
    folder->call(path);
    return folder;
  }
  auto folder = make_in_tmp();
  if (!folder.ok()) return with_hint(std::move(folder).error(), folder_in_tmp());
  return folder;
}

}  // namespace tracewell::hooks
