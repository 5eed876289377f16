// The way is walked by names: as long as each of them is found in a folder where others can change
// none, it leads to the same folder whenever it is walked.
#include "hooks/control/kept_way.h"

#include <unistd.h>

#include <optional>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"

namespace tracewell::hooks {
namespace {

constexpr int kLinksMax = 40;  // as the system has it
constexpr uint32_t kSticky = 01000;

Error not_kept(const std::string& path, const std::string& why) {
  return {Errc::InvalidArgument, fmt::format("{} {}", printable(path), why), {}};
}

Error belongs(const std::string& path, uint32_t owner) {
  return not_kept(path, "belongs to " + user_name(owner));
}

Error writable(const std::string& path, const FileFacts& folder) {
  return not_kept(path, fmt::format("may be written by others (mode {:03o}{})", folder.mode,
                                    folder.owner == ::geteuid() ? "; chmod go-w" : ""));
}

bool is_trusted_user(uint32_t owner) { return is_own_user(owner) || owner == 0; }

/// In a user namespace, root's folders are nobody's that has a number there: so who has that of the
/// whole system is root.
bool keeps_system(uint32_t owner) {
  const auto root = facts_at("/");
  return is_trusted_user(owner) || (root && root->owner == owner);
}

/// /run/user/UID is there while that user is.
bool is_others_runtime(const FileFacts& folder, const std::string& name) {
  const auto user = parse_number(name);
  if (name.find_first_not_of("0123456789") != name.npos || user == ::geteuid()) return false;
  const auto runtimes = facts_at("/run/user");
  return runtimes && runtimes->is_same(folder);
}

class KeptWay {
 public:
  KeptWay(const std::string& path, uint32_t shared, Errc missing)
      : rest_(path), shared_(shared), missing_(missing) {}

  Status check() {
    while (!rest_.empty()) {
      const size_t slash = rest_.find('/');
      const std::string name = rest_.substr(0, slash);
      rest_.erase(0, slash == rest_.npos ? slash : slash + 1);
      if (name.empty()) continue;
      TW_ASSIGN_OR_RETURN(const bool goes_on, step(name));
      if (!goes_on) return {};
    }
    const auto end = facts_at(here());
    if (!end || end->kind != FileFacts::Kind::Folder) return {};
    if (!is_trusted_user(end->owner)) return belongs(here(), end->owner);
    if (is_shared(*end)) return writable(here(), *end);
    return {};
  }

 private:
  std::string here() const { return at_.empty() ? "/" : at_; }
  bool is_shared(const FileFacts& folder) const { return (folder.mode & shared_) != 0; }

  /// False: the way ends here, whatever others do.
  Result<bool> step(const std::string& name) {
    const auto folder = facts_at(here());
    if (!folder || folder->kind != FileFacts::Kind::Folder) return false;
    if (!keeps_system(folder->owner)) return belongs(here(), folder->owner);
    if (is_shared(*folder) && (folder->mode & kSticky) == 0) return writable(here(), *folder);
    const std::string path = at_ + "/" + name;
    if (is_others_runtime(*folder, name)) return not_kept(path, "is another user's");
    if (name == ".") return true;
    if (name == "..") {
      at_ = at_.empty() ? "" : at_.substr(0, at_.rfind('/'));
      return true;
    }
    const auto entry = place_beside(path);
    if (!entry.ok() || !entry->at.valid()) {
      if (!is_shared(*folder)) return false;
      Error error = not_kept(path, fmt::format("is not there, and others may make it (mode {:03o} "
                                               "of {})", folder->mode, printable(here())));
      error.code = missing_;
      return error;
    }
    if (const auto text = link_text(path)) return follow(path, *text, entry->facts.owner);
    if (!keeps_system(entry->facts.owner)) return belongs(path, entry->facts.owner);
    at_ = path;
    return true;
  }

  Result<bool> follow(const std::string& link, const std::string& text, uint32_t owner) {
    if (!is_trusted_user(owner))
      return not_kept(link, "is a symbolic link of " + user_name(owner));
    if (++links_ > kLinksMax) return false;
    if (text.starts_with('/')) at_.clear();
    rest_ = text + "/" + rest_;
    return true;
  }

  std::string at_;  // the folder that was reached, without links; "" = the root
  std::string rest_;
  const uint32_t shared_;  // the bits of a mode by which others may write
  const Errc missing_;     // of what is not there, where they may
  int links_ = 0;
};

}  // namespace

Status check_kept_way(const std::string& folder) {
  return KeptWay(folder, 0022, Errc::InvalidArgument).check();
}

Status check_kept_usual_way(const std::string& folder) {
  return KeptWay(folder, 0002, Errc::NotFound).check();
}

}  // namespace tracewell::hooks
