// Who may debug here: what the system says of a connection's other end, and `--allow-users`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::server {

class Admission {
 public:
  /// The user whose process this is, and root.
  Admission();
  /// `--allow-users`: also users with these names or numbers (with commas), or "any": whoever is on
  /// this machine, known or not. "" = none. InvalidArgument for a user that there is not.
  static Result<Admission> parse(std::string_view text);

  bool any() const { return any_; }
  /// Was more allowed than the default?
  bool widened() const { return any_ || !more_.empty(); }
  /// nothing, or a sentence for the one who is refused and for the log: with whom this is not
  /// shared, and what to do about it.
  Status admits(const Result<uint32_t>& user) const;

  /// For tests: as if the process were this user's and sudo had started it for another one.
  void pretend(uint32_t own, const std::string& sudo_user);
  /// Users without a number here, as in a container, all have this one; so whose it is cannot be
  /// told. False: each user has a number of their own.
  void pretend_unmapped(bool some_are) { some_unmapped_ = some_are; }

 private:
  uint32_t own_;
  std::string sudo_user_;  // a number, as sudo says it; or ""
  bool any_ = false;
  bool some_unmapped_;
  std::vector<uint32_t> more_;
};

}  // namespace tracewell::server
