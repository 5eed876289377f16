#include "server/connection/admission.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/text/text.h"

namespace tracewell::server {
namespace {

constexpr uint32_t kRoot = 0;

std::optional<uint32_t> user_number(const std::string& name) {
  if (const auto number = parse_number(name)) {
    if (*number < UINT32_MAX) return static_cast<uint32_t>(*number);
    return std::nullopt;
  }
  std::array<char, 4096> room;
  struct passwd entry = {};
  struct passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0 || !found)
    return std::nullopt;
  return found->pw_uid;
}

/// As `--allow-users` takes it.
std::string option_word(uint32_t uid) {
  std::string name = user_name(uid);
  return name.substr(name.find(' ') + 1);
}

}  // namespace

Admission::Admission() : own_(::geteuid()), some_unmapped_(some_users_are_unmapped()) {
  if (const char* const sudo = std::getenv("SUDO_UID"); sudo && own_ == kRoot) sudo_user_ = sudo;
}

void Admission::pretend(uint32_t own, const std::string& sudo_user) {
  own_ = own;
  sudo_user_ = sudo_user;
}

Result<Admission> Admission::parse(std::string_view text) {
  Admission out;
  if (text.empty()) return out;
  for (const std::string_view name : split(text, ',')) {
    if (name == "any") {
      out.any_ = true;
      continue;
    }
    const auto number = user_number(std::string(name));
    if (!number)
      return Error{Errc::InvalidArgument,
                   fmt::format("--allow-users: there is no user '{}'; give names or numbers with "
                               "commas between them, or any",
                               printable(name)),
                   {}};
    out.more_.push_back(*number);
  }
  return out;
}

Status Admission::admits(const Result<uint32_t>& user) const {
  if (any_) return {};
  const bool known = user.ok() && !(*user == kUnmappedUser && some_unmapped_);
  if (known && (*user == own_ || *user == kRoot ||
                std::find(more_.begin(), more_.end(), *user) != more_.end()))
    return {};
  const std::string whose =
      own_ == kRoot ? "root" : fmt::format("{} and root", user_name(own_));
  if (!known)
    return {Errc::InvalidArgument,
            fmt::format("this server is for {} alone, and whose this connection is cannot be told; "
                        "its user may admit more by --allow-users NAME,... or any, or let it "
                        "listen at unix:PATH",
                        whose)};
  const std::string name = option_word(*user);
  const bool by_sudo = !sudo_user_.empty() && parse_number(sudo_user_) == *user;
  return {Errc::InvalidArgument,
          fmt::format("this server is for {} alone, not for {}{}; start it with --allow-users {} "
                      "(NAME,...), or let it listen at unix:PATH",
                      whose, user_name(*user), by_sudo ? ", who started it through sudo" : "",
                      name)};
}

}  // namespace tracewell::server
