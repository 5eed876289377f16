// The Itanium C++ ABI's names. The runtime's demangler (of GCC 12, at least) trusts them: 210
// characters can be chosen so that it makes 35 MB of text, and 13 so that it never ends. So it is
// given only what is harmless however it reads it:
//   - Each back reference (S_, S0_, …, T_, T0_, …) at most doubles the text that there is, and a
//     pack expansion (Dp) repeats its pattern for each of at most as many elements as the name has
//     letters. A name that could unfold to too much is not for it.
//   - Expressions, where it loses its way, are not for it: one name in a hundred has any.
// Identifiers look like all of these (XStatus_), and where they stand only a demangler knows. So
// those that seem to be some are taken out before, and put back into what it says.
#include "symbols/names/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tracewell::symbols {
namespace {

constexpr size_t kMangledMax = 4096;
/// Of what is known before: real names unfold to far less than this says of them.
constexpr size_t kUnfoldedMax = size_t{4} << 20;
/// What the demangler does for a letter that it reads, in letters that it writes.
constexpr uint64_t kReadCost = 16;
/// So much every name may cost.
constexpr uint64_t kFreeEach = 8192;
/// Above that, all names of an image together: some, and so much for each of its bytes.
constexpr uint64_t kWorkBase = uint64_t{16} << 20, kWorkEach = 64;
constexpr size_t kNamesKeptBytes = size_t{16} << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

size_t digits_of(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

/// Length of the back reference at the head of the text, 0 if there is none. St, Sa, Ss, … stand
/// for fixed texts. No name refers to so many things that its numbers are long, but SSSS… would be
/// looked through once for each S.
size_t reference_length(std::string_view text) {
  constexpr size_t kDigitsMax = 4;
  if (text[0] != 'S' && text[0] != 'T') return 0;
  text = text.substr(0, kDigitsMax + 2);
  size_t at = 1;
  while (at < text.size() && (is_digit(text[at]) || (text[0] == 'S' && is_upper(text[at])))) ++at;
  return at < text.size() && text[at] == '_' ? at + 1 : 0;
}

/// Could an expression begin at the head of the text? They are in template arguments X…E, decltype,
/// noexcept(…), scopes that depend on parameters, and sizes of arrays that are no numbers.
bool is_expression(std::string_view text) {
  for (const std::string_view one : {"X", "DT", "Dt", "DO", "sr", "Dv_"})
    if (text.starts_with(one)) return true;
  return text[0] == 'A' && text.size() > 1 && !is_digit(text[1]) && text[1] != '_';
}

/// What it unfolds to at most, if that is harmless. `letters`: of the name that this one stands
/// for. From the end on, so that references of any length are known in one look at each letter.
std::optional<size_t> most_letters(std::string_view mangled, size_t letters) {
  size_t most = letters;
  bool digits = false, uppers = false;  // a T, an S in front of what was seen is a reference
  for (size_t at = mangled.size(); at-- > 2;) {
    const std::string_view rest = mangled.substr(at);
    const char c = rest[0];
    if (is_expression(rest)) return std::nullopt;
    if ((c == 'T' && digits) || (c == 'S' && uppers)) most *= 2;
    if (rest.starts_with("Dp")) most *= letters;
    if (most > kUnfoldedMax) return std::nullopt;
    uppers = c == '_' || (uppers && (is_digit(c) || is_upper(c)));
    digits = c == '_' || (digits && is_digit(c));
  }
  return most;
}

/// A name without its identifiers, which stand in it as zqaaa, zqaab, …. A guess at what is an
/// identifier, and what another number, is wrong in odd names; those do not come out of the
/// demangler then.
class Shortened {
 public:
  explicit Shortened(std::string_view name) : rest_(name) {
    while (!rest_.empty()) {
      const size_t digits = digits_of(rest_);
      const size_t length = digits == 0 || is_number(digits) ? 0 : number_of_digits(digits);
      if (length != 0 && length <= rest_.size() - digits) {
        add(rest_.substr(digits, length));
        rest_.remove_prefix(digits + length);
      } else {
        copy(digits != 0 ? digits : token_length());
      }
    }
  }

  const std::string& mangled() const { return mangled_; }

  std::string put_back(std::string_view text) const {
    std::string out;
    while (true) {
      const size_t at = text.find(kMark);
      out += text.substr(0, at);
      if (at == std::string_view::npos) return out;
      text.remove_prefix(at);
      const auto number = number_of(text);
      if (number && *number < identifiers_.size()) out += identifiers_[*number];
      text.remove_prefix(number ? kMark.size() + kLetters : kMark.size());
    }
  }

 private:
  static constexpr std::string_view kMark = "zq";
  static constexpr size_t kLetters = 3;  // a to p, behind the mark: enough for kMangledMax

  void copy(size_t length) {
    mangled_ += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  size_t number_of_digits(size_t digits) const {
    size_t number = 0;
    for (size_t i = 0; i < digits && number < kMangledMax; ++i)
      number = 10 * number + static_cast<size_t>(rest_[i] - '0');
    return number;
  }

  /// What has digits in it that are no identifier's length: references, constructors and
  /// destructors, numbers as template arguments. Otherwise a letter.
  size_t token_length() {
    if (const size_t length = reference_length(rest_)) return length;
    if (rest_.size() < 2) return 1;
    if (rest_[0] == 'U' && (rest_[1] == 'l' || rest_[1] == 't')) in_lambda_ = true;
    if ((rest_[0] == 'C' || rest_[0] == 'D') && is_digit(rest_[1])) return 2;
    if (rest_[0] != 'L') return 1;
    if (rest_[1] < 'a' || rest_[1] > 'z') {
      in_literal_ = true;
      return 1;
    }
    const size_t sign = rest_.substr(2).starts_with('n') ? 3 : 2;
    const size_t end = sign + digits_of(rest_.substr(sign));
    return end < rest_.size() && rest_[end] == 'E' ? end + 1 : 1;
  }

  /// Are these digits the number of a lambda, an enumerator's value, an array's size, …?
  bool is_number(size_t digits) {
    const std::string_view behind = rest_.substr(digits);
    if (in_literal_ && behind.starts_with('E') && !mangled_.ends_with('L')) {
      in_literal_ = false;
      return true;
    }
    if (!behind.starts_with('_')) return false;
    if (in_lambda_) {
      in_lambda_ = false;
      return true;
    }
    const char before = mangled_.back();  // there is _Z at least
    return before == 'A' || (mangled_.starts_with("_ZT") && (before == 'n' || before == 'h'));
  }

  void add(std::string_view identifier) {
    mangled_ += '0' + static_cast<char>(kMark.size() + kLetters);
    mangled_ += kMark;
    for (const size_t shift : {8u, 4u, 0u})
      mangled_ += static_cast<char>('a' + (identifiers_.size() >> shift & 15));
    const bool is_nameless = identifier.starts_with("_GLOBAL__N");
    identifiers_.push_back(is_nameless ? "(anonymous namespace)" : identifier);
  }

  static std::optional<size_t> number_of(std::string_view text) {
    size_t number = 0;
    for (size_t i = kMark.size(); i < kMark.size() + kLetters; ++i) {
      if (i >= text.size() || text[i] < 'a' || text[i] > 'p') return std::nullopt;
      number = number << 4 | static_cast<size_t>(text[i] - 'a');
    }
    return number;
  }

  std::string_view rest_;
  std::string mangled_;
  std::vector<std::string_view> identifiers_;
  bool in_lambda_ = false;
  bool in_literal_ = false;
};

/// The runtime's answer.
std::optional<std::string> ask(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (text == nullptr || status != 0) return std::nullopt;
  return text.get();
}

struct Unfolded {
  std::optional<std::string> text;
  size_t letters = 0;  // that were written for it
};

/// A name of which nothing comes out may have cost all that it could: the demangler finds out at
/// the end of the text, or goes back at each T_ of `cvT_IT_IT_…`, and parses all behind it twice.
Unfolded asked(const std::string& mangled, size_t most) {
  auto text = ask(mangled);
  const size_t letters = text ? text->size() : most;
  return {std::move(text), letters};
}

Unfolded demangle(std::string_view name) {
  if (const auto most = most_letters(name, name.size())) return asked(std::string(name), *most);
  const Shortened shortened(name);
  const auto most = most_letters(shortened.mangled(), name.size());
  if (!most) return {};
  Unfolded unfolded = asked(shortened.mangled(), *most);
  if (unfolded.text) *unfolded.text = shortened.put_back(*unfolded.text);
  return unfolded;
}

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") && name.size() <= kMangledMax;
}

/// `name`: in memory that nobody else writes to, so that what is demangled is what was looked at.
/// `letters`: of what it unfolds to, also where that is too much or turns out to be no name.
std::string unfolded(const std::string& name, size_t& letters) {
  if (!is_mangled(name)) return name;
  // The compiler's copies of a function are match.isra.0, match.cold, ….
  const size_t end = std::min(name.find('.'), name.size());
  const std::string_view whole = name;
  const Unfolded unfolded = demangle(whole.substr(0, end));
  const auto& text = unfolded.text;
  letters = text ? text->size() : unfolded.letters;
  if (!text || letters > kWrittenMax) return name;
  return end == name.size() ? *text : fmt::format("{} [clone {}]", *text, whole.substr(end));
}

}  // namespace

std::string demangled(std::string_view mapped) {
  size_t letters = 0;
  return unfolded(std::string(mapped), letters);
}

Demangler::Demangler(uint64_t image_bytes, Stop stop)
    : work_(kWorkBase + kWorkEach * std::min(image_bytes, UINT64_MAX / kWorkEach / 2),
            std::move(stop)) {}

std::string Demangler::written(std::string_view name) {
  if (!is_mangled(name)) return std::string(name);
  std::string key(name);
  const auto found = kept_.find(key);
  if (found != kept_.end()) return found->second;
  std::string text = written_once(key);
  kept_bytes_ += key.size() + text.size();
  if (kept_bytes_ > kNamesKeptBytes) {
    kept_.clear();
    kept_bytes_ = key.size() + text.size();
  }
  kept_.emplace(std::move(key), text);
  return text;
}

std::string Demangler::written_once(std::string_view mapped) {
  std::string name(mapped.substr(0, std::min(mapped.size(), kMangledMax + 1)));
  if (!is_mangled(name) || !work_.take()) return std::string(mapped);
  size_t letters = 0;
  std::string text = unfolded(name, letters);
  const uint64_t cost = letters + kReadCost * name.size();
  if (cost > kFreeEach) work_.take(cost - kFreeEach);
  return text;
}

}  // namespace tracewell::symbols
