// The C library's regular expressions: they are compiled from what the user typed, never from what
// stands in a trace, and are asked of an event's own short texts.
#include "filter/pattern.h"

#include <regex.h>

#include <fmt/format.h>

#include "base/text.h"

namespace tracewell::filter {

struct Pattern::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (made) regfree(&regex);
  }
  regex_t regex = {};
  bool made = false;
};

Result<Pattern> Pattern::compile(const std::string& text) {
  if (text.size() > kTextMax) return {Errc::InvalidArgument, "the pattern is too long"};
  auto compiled = std::make_shared<Compiled>();
  const int failed =
      regcomp(&compiled->regex, text.c_str(), REG_EXTENDED | REG_ICASE | REG_NOSUB);
  if (failed != 0) {
    char why[128] = {};
    regerror(failed, &compiled->regex, why, sizeof why);
    return {Errc::InvalidArgument, fmt::format("this is no pattern: {}", printable(why))};
  }
  compiled->made = true;
  Pattern out;
  out.compiled_ = std::move(compiled);
  return out;
}

bool Pattern::found_in(std::string_view text) const {
  regmatch_t range = {};
  range.rm_so = 0;
  range.rm_eo = static_cast<regoff_t>(text.size());
  return regexec(&compiled_->regex, text.data(), 1, &range, REG_STARTEND) == 0;
}

}  // namespace tracewell::filter
