// Where programs and commands of a user meet: the folder of the control file. Each looks for it by
// itself, so both go by one rule, which docs/decisions/0008-trace-hooks.md has; here are commands,
// and src/inproc/meeting.c is for programs.
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/folder.h"
#include "base/message.h"
#include "base/open.h"
#include "base/owners.h"
#include "base/paths.h"
#include "base/text.h"
#include "hooks/control.h"

namespace tracewell::hooks {
namespace {

constexpr const char* kElsewhere = "$XDG_RUNTIME_DIR names the folder that it is in";
constexpr char kTmp[] = "/tmp";

std::string usual_name() { return fmt::format("tracewell-{}", ::geteuid()); }

bool is_ours(const Folder& tmp, const std::string& name) {
  const auto facts = tmp.facts_of_name(name);
  return facts && facts->kind == FileFacts::Kind::Folder && is_own_user(facts->owner) &&
         (facts->mode & 0077) == 0;
}

/// Of this user's whose names begin with the usual one and a dash, the first but `not_this`.
std::optional<std::string> other_in_tmp(const Folder& tmp, const std::string& not_this = {}) {
  const auto names = tmp.names();
  if (!names.ok()) return std::nullopt;
  const auto found = std::ranges::find_if(*names, [&](const std::string& name) {
    return name.starts_with(usual_name() + "-") && name != not_this && is_ours(tmp, name);
  });
  if (found == names->end()) return std::nullopt;
  return *found;
}

std::string name_in_tmp(const Folder& tmp) {
  if (is_ours(tmp, usual_name())) return usual_name();
  return other_in_tmp(tmp).value_or(usual_name());
}

Error with_hint(Error error, const std::string& path) {
  return hinting(std::move(error), printable(path), fmt::format("({})", kElsewhere));
}

bool is_trusted(uint32_t owner) { return is_own_user(owner) || owner == 0; }

Error refused(const std::string& path, const std::string& why) {
  return {Errc::InvalidArgument, fmt::format("{} {}", printable(path), why), {}};
}

/// What is made in the folder keeps its name, unless this user or root changes that.
Status check_parent(const FileFacts& parent, const std::string& path) {
  if (!is_trusted(parent.owner)) return refused(path, "belongs to " + user_name(parent.owner));
  if ((parent.mode & 0022) != 0 && (parent.mode & S_ISVTX) == 0)
    return refused(path, fmt::format("may be written by others (mode {:03o}; chmod go-w)",
                                     parent.mode));
  return {};
}

/// InvalidArgument: others could put something else into its place, or have; it is passed over.
Result<Folder::Entry> find_place(const std::string& path) {
  // Before anything is looked for in it: another user's may be hidden from this one.
  const std::string above = parent_of(path);
  TW_ASSIGN_OR_RETURN(const Place parent, write_place(above));
  if (parent.at.valid()) TW_RETURN_IF_ERROR(check_parent(parent.facts, above));
  TW_ASSIGN_OR_RETURN(Folder::Entry place, Folder::around(path));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, place.folder.facts());
  TW_RETURN_IF_ERROR(check_parent(facts, above));
  const auto own = place.folder.facts_of_name(place.name);
  if (own && !is_trusted(own->owner))
    return refused(path, "belongs to " + user_name(own->owner));
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

std::string folder_in_tmp() {
  const auto tmp = Folder::named(kTmp);
  return fmt::format("{}/{}", kTmp, tmp.ok() ? name_in_tmp(*tmp) : usual_name());
}

/// A program may do so at the same time: who finds another one takes its own away.
Result<std::string> make_in_tmp() {
  if (!is_own_user(::geteuid()))
    return refused(kTmp, fmt::format("has no folder of this user's: in this user namespace {} "
                                     "stands for others, too", user_name(::geteuid())));
  TW_ASSIGN_OR_RETURN(const Folder tmp, Folder::named(kTmp));
  const std::string name = name_in_tmp(tmp);
  if (is_ours(tmp, name)) return tmp.path_of(name);
  auto made = tmp.make_inside(name, true);
  if (made.ok()) return tmp.path_of(name);
  if (!tmp.facts_of_name(name)) return with_hint(std::move(made).error(), tmp.path_of(name));
  uint32_t random = 0;
  static_cast<void>(!::getrandom(&random, sizeof random, 0));
  const std::string other = fmt::format("{}-{}", usual_name(), random);
  made = tmp.make_inside(other, true);
  if (!made.ok()) return with_hint(std::move(made).error(), tmp.path_of(other));
  const auto first = other_in_tmp(tmp, other);
  if (!first) return tmp.path_of(other);
  static_cast<void>(tmp.remove_folder(other));
  return tmp.path_of(*first);
}

std::optional<std::string> folder_trouble(const std::string& folder) {
  const std::string usual = fmt::format("{}/{}", kTmp, usual_name());
  if (!folder.starts_with(usual + "-")) return std::nullopt;
  const auto tmp = Folder::named(kTmp);
  const auto facts = tmp.ok() ? tmp->facts_of_name(usual_name()) : std::nullopt;
  if (!facts) return std::nullopt;
  return fmt::format("{} is not this user's alone (it belongs to {}), so {} is used instead", usual,
                     user_name(facts->owner), folder);
}

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
  TW_ASSIGN_OR_RETURN(const std::string path, make_in_tmp());
  auto folder = Folder::make(path);
  if (!folder.ok()) return with_hint(std::move(folder).error(), path);
  return folder;
}

}  // namespace tracewell::hooks
