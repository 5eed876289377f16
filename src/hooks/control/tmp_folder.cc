// docs/decisions/0008-trace-hooks.md has the rule. src/inproc/tmp_folder.c is for programs, and
// says why no two processes make two folders.
#include "hooks/control/tmp_folder.h"

#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/text/text.h"

namespace tracewell::hooks {
namespace {

constexpr char kTmp[] = "/tmp";
// Others may give many files and links names that look like ours; those are not looked at.
constexpr auto kFolders = Folder::Which::Folders;
constexpr int kNamesTried = 16;
constexpr size_t kNameBytes = 64;  // longer ones are none of ours
constexpr int kWaitMax = 5000;  // milliseconds

std::string usual_name() { return fmt::format("tracewell-{}", ::geteuid()); }
std::string start_of_turns() { return fmt::format(".tracewell-{}-", ::geteuid()); }

uint32_t random_number() {
  uint32_t out = 0;
  static_cast<void>(!::getrandom(&out, sizeof out, 0));
  return out;
}

bool is_ours(const Folder& tmp, const std::string& name) {
  const auto facts = tmp.facts_of_name(name);
  return facts && facts->kind == FileFacts::Kind::Folder && is_own_user(facts->owner) &&
         (facts->mode & 0077) == 0;
}

bool lock_now(const Folder& folder) { return ::flock(folder.fd(), LOCK_EX | LOCK_NB) == 0; }
void unlock(const Folder& folder) { static_cast<void>(::flock(folder.fd(), LOCK_UN)); }

/// The first of this user's by name; nullopt: there is none.
std::optional<std::string> place_among(const Folder& tmp, const std::vector<std::string>& names) {
  const auto found = std::ranges::find_if(names, [&](const std::string& name) {
    return (name == usual_name() || name.starts_with(usual_name() + "-")) &&
           name.size() < kNameBytes && is_ours(tmp, name);
  });
  return found == names.end() ? std::nullopt : std::optional(*found);
}

/// Of a process that looks for the place and found none; held with a lock.
class Turn {
 public:
  explicit Turn(const Folder& tmp) : tmp_(tmp) {}
  ~Turn() { end(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool is_held() const { return own_ != nullptr; }
  const std::string& name() const { return name_; }

  /// Whoever looks around from now on sees it, held: it had its name before, and has it still.
  /// Not held: others were at it.
  Status begin() {
    name_ = start_of_turns() + std::to_string(random_number());
    auto own = tmp_.make_inside(name_, true);
    if (!own.ok() && own.error().code == Errc::NotFound) return {};
    TW_ASSIGN_OR_RETURN(Folder folder, std::move(own));
    const bool locked = lock_now(folder);
    const int wrong = locked ? 0 : errno;
    const auto facts = folder.facts();
    const auto named = tmp_.facts_of_name(name_);
    if (locked && facts.ok() && named && named->is_same(*facts)) {
      own_ = std::make_unique<Folder>(std::move(folder));
      return {};
    }
    best_effort(tmp_.remove_folder(name_));
    if (locked || wrong == EWOULDBLOCK) return {};
    return errno_error(wrong, "cannot lock " + printable(tmp_.path_of(name_)));
  }

  /// It loses its name first, so that nobody takes it for one that was left.
  void end() {
    if (!own_) return;
    best_effort(tmp_.remove_folder(name_));
    unlock(*own_);
    own_.reset();
  }

  /// Another's that is held, the first by name. What others have left is removed.
  Result<std::optional<Folder>> other_among(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      if (!name.starts_with(start_of_turns()) || (own_ && name == name_) || !is_ours(tmp_, name))
        continue;
      auto folder = tmp_.inside(name);
      // Of what cannot be looked at nobody knows, so that nothing follows from it.
      if (!folder.ok() && folder.error().code != Errc::NotFound && is_ours(tmp_, name))
        return folder.error();
      const auto facts = folder.ok() ? folder->facts() : Result<FileFacts>(folder.error());
      if (!facts.ok() || !is_own_user(facts->owner)) continue;
      if (!lock_now(*folder)) {
        folder->call(name);
        return std::optional(*std::move(folder));
      }
      best_effort(tmp_.remove_folder(name));
      unlock(*folder);
    }
    return std::optional<Folder>();
  }

 private:
  const Folder& tmp_;
  std::string name_;
  std::unique_ptr<Folder> own_;
};

class PlaceInTmp {
 public:
  explicit PlaceInTmp(const Folder& tmp) : tmp_(tmp), turn_(tmp) {}

  Result<Folder> find() {
    for (bool alone = false;;) {
      TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, tmp_.names(kFolders));
      if (const auto place = place_among(tmp_, names)) return tmp_.inside(*place);
      if (alone) return make();
      TW_ASSIGN_OR_RETURN(const std::optional<Folder> other, turn_.other_among(names));
      if (turn_.is_held() && !other) {
        // Who had their turn before may have made it after its name was looked for.
        alone = true;
        continue;
      }
      if (other) {
        // Of two that wait for each other, one gives way.
        if (turn_.is_held() && other->path() < turn_.name()) turn_.end();
        TW_RETURN_IF_ERROR(wait_for(*other));
      } else {
        TW_RETURN_IF_ERROR(turn_.begin());
        if (!turn_.is_held()) TW_RETURN_IF_ERROR(wait_a_little());
      }
    }
  }

 private:
  /// No other process of this user's does so. Anybody may have the usual name.
  Result<Folder> make() {
    auto made = tmp_.make_inside(usual_name(), true);
    for (int tries = 0; !made.ok() && tries < kNamesTried; ++tries)
      made = tmp_.make_inside(fmt::format("{}-{}", usual_name(), random_number()), true);
    return made;
  }

  Status wait_for(const Folder& other) {
    while (!lock_now(other)) TW_RETURN_IF_ERROR(wait_a_little());
    unlock(other);
    return {};
  }

  Status wait_a_little() {
    if (++waited_ > kWaitMax)
      return Error{Errc::Io,
                   fmt::format("another process of yours holds {}/{}… for too long (is it "
                               "stopped?)",
                               kTmp, start_of_turns()),
                   {}};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  }

  const Folder& tmp_;
  Turn turn_;
  int waited_ = 0;
};

}  // namespace

std::string folder_in_tmp() {
  const auto tmp = Folder::named(kTmp);
  if (!tmp.ok() || is_ours(*tmp, usual_name())) return fmt::format("{}/{}", kTmp, usual_name());
  const auto names = tmp->names(kFolders);
  const auto place = names.ok() ? place_among(*tmp, *names) : std::nullopt;
  return fmt::format("{}/{}", kTmp, place.value_or(usual_name()));
}

Result<Folder> make_in_tmp() {
  if (!is_own_user(::geteuid()))
    return {Errc::InvalidArgument,
            fmt::format("{} has no folder of this user's: in this user namespace {} stands for "
                        "others, too", kTmp, user_name(::geteuid()))};
  TW_ASSIGN_OR_RETURN(const Folder tmp, Folder::named(kTmp));
  if (is_ours(tmp, usual_name())) return tmp.inside(usual_name());
  return PlaceInTmp(tmp).find();
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

}  // namespace tracewell::hooks
