// The engine would take most patterns as they are, and some of them for other ones: a backslash in
// brackets, \< and [=a=] mean something else to it, and its own folding of case takes bytes of
// UTF-8 for letters. So each pattern is read here, and told by byte values that nobody can mistake.
#include "filter/pattern_syntax.h"

#include <bitset>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::filter {
namespace {

using ByteSet = std::bitset<256>;

constexpr size_t kTimesDigits = 4;  // what is longer, the engine takes for characters
constexpr unsigned kCaseBit = 'a' ^ 'A';

bool is_small(unsigned byte) { return byte >= 'a' && byte <= 'z'; }
bool is_capital(unsigned byte) { return byte >= 'A' && byte <= 'Z'; }
bool is_digit(unsigned byte) { return byte >= '0' && byte <= '9'; }
bool is_letter(unsigned byte) { return is_small(byte) || is_capital(byte); }
bool is_visible(unsigned byte) { return byte > ' ' && byte < 0x7f; }
bool is_space(unsigned byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool is_hex_letter(unsigned byte) {
  return (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

struct Class {
  std::string_view name;
  bool (*has)(unsigned byte);
};
constexpr Class kClasses[] = {
    {"alpha", is_letter},
    {"digit", is_digit},
    {"alnum", [](unsigned byte) { return is_letter(byte) || is_digit(byte); }},
    {"upper", is_capital},
    {"lower", is_small},
    {"space", is_space},
    {"blank", [](unsigned byte) { return byte == ' ' || byte == '\t'; }},
    {"punct",
     [](unsigned byte) { return is_visible(byte) && !is_letter(byte) && !is_digit(byte); }},
    {"print", [](unsigned byte) { return is_visible(byte) || byte == ' '; }},
    {"graph", is_visible},
    {"cntrl", [](unsigned byte) { return byte < ' ' || byte == 0x7f; }},
    {"xdigit", [](unsigned byte) { return is_digit(byte) || is_hex_letter(byte); }}};

ByteSet set_of(bool (*has)(unsigned byte)) {
  ByteSet out;
  for (unsigned byte = 0; byte < out.size(); ++byte) out[byte] = has(byte);
  return out;
}

ByteSet with_both_cases(ByteSet set) {
  for (unsigned byte = 'A'; byte <= 'Z'; ++byte)
    if (set[byte] || set[byte ^ kCaseBit]) set[byte] = set[byte ^ kCaseBit] = true;
  return set;
}

std::string class_text(const ByteSet& set) {
  if (set.none()) return "[^\\x00-\\xff]";
  std::string out = "[";
  for (unsigned first = 0; first < set.size(); ++first) {
    if (!set[first]) continue;
    unsigned last = first;
    while (last + 1 < set.size() && set[last + 1]) ++last;
    out += first == last ? fmt::format("\\x{:02x}", first)
                         : fmt::format("\\x{:02x}-\\x{:02x}", first, last);
    first = last;
  }
  return out + "]";
}

/// One function for each kind of piece; out_ grows from left to right.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  Result<std::string> read() {
    while (at_ < text_.size()) TW_RETURN_IF_ERROR(piece());
    if (open_ != 0) return wrong("a ( has no )", "write \\( for the character itself");
    return std::move(out_);
  }

 private:
  static Error wrong(std::string_view why, std::string_view remedy) {
    return {Errc::InvalidArgument, fmt::format("{}; {}", why, remedy), {}};
  }

  Status piece() {
    const char c = text_[at_++];
    switch (c) {
      case '*':
      case '+':
      case '?':
        return repeat(std::string(1, c));
      case '{':
        return repeat_by_number();
      case '(':
        ++open_;
        return border("(");
      case '|':
      case '^':
      case '$':
        return border(c);
      case ')':
        if (open_ == 0) break;  // for itself, as POSIX' own functions take it
        --open_;
        return atom(")");
      case '.':
        return atom(class_text(ByteSet().set()));
      case '[':
        return brackets();
      case '\\':
        return escaped();
      default:
        break;
    }
    return byte(c);
  }

  Status atom(std::string_view text) {
    out_ += text;
    repeatable_ = true;
    return {};
  }
  /// What nothing can be repeated behind.
  Status border(std::string_view text) {
    out_ += text;
    repeatable_ = false;
    return {};
  }
  Status border(char c) { return border(std::string_view(&c, 1)); }
  Status byte(char c) { return set(ByteSet().set(static_cast<uint8_t>(c))); }
  Status set(const ByteSet& one) { return atom(class_text(with_both_cases(one))); }

  Status repeat(std::string_view how) {
    if (!repeatable_)
      return wrong(fmt::format("nothing stands before the {}", how.front()),
                   fmt::format("write \\{} for the character itself", how.front()));
    out_ += how;
    return {};
  }

  /// {N}, {N,}, {,M} and {N,M}; behind the brace.
  Status repeat_by_number() {
    const size_t end = text_.find('}', at_);
    if (end == std::string_view::npos)
      return wrong("a { has no }", "write \\{ for the character itself");
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    const size_t comma = inside.find(',');
    const std::string_view least = inside.substr(0, comma);
    const std::string_view most =
        comma == std::string_view::npos ? std::string_view() : inside.substr(comma + 1);
    const auto digits = [](std::string_view word) {
      return word.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!digits(least) || !digits(most) || (least.empty() && most.empty()))
      return wrong(fmt::format("{{{}}} says no number of times", printable(inside)),
                   "write {2} or {2,5}, or \\{ for the character itself");
    if (least.size() > kTimesDigits || most.size() > kTimesDigits)
      return wrong(fmt::format("{{{}}} is too often", printable(inside)),
                   "1000 times are the most");
    return repeat(fmt::format("{{{}{}{}}}", least.empty() ? "0" : least,
                              comma == std::string_view::npos ? "" : ",", most));
  }

  Status escaped() {
    if (at_ == text_.size()) return wrong("it ends with \\", "write \\\\ for the character itself");
    const char c = text_[at_++];
    const auto is_word = [](unsigned one) {
      return is_letter(one) || is_digit(one) || one == '_';
    };
    switch (c) {
      case 'w':
        return set(set_of(is_word));
      case 'W':
        return set(~set_of(is_word));
      case 's':
        return set(set_of(is_space));
      case 'S':
        return set(~set_of(is_space));
      case 'd':
        return set(set_of(is_digit));
      case 'D':
        return set(~set_of(is_digit));
      case 'b':
        return border("\\b");
      case 'B':
        return border("\\B");
      case '`':
        return border("^");
      case '\'':
        return border("$");
      case '<':
      case '>':
        return wrong(fmt::format("\\{} is not known here", c), "\\b is the border of a word");
      default:
        break;
    }
    if (c != '0' && is_digit(static_cast<uint8_t>(c)))
      return wrong(fmt::format("\\{} would be what a group has found, which is not known here", c),
                   "write what is to be found");
    if (is_letter(static_cast<uint8_t>(c)) || c == '0')
      return wrong(fmt::format("\\{} means nothing", c), "write the character itself");
    return byte(c);
  }

  /// Behind the bracket. A backslash is a character like others there.
  Status brackets() {
    const bool inverted = at_ < text_.size() && text_[at_] == '^';
    if (inverted) ++at_;
    ByteSet set;
    for (const size_t first = at_; at_ == first || !ends_here(); ) {
      if (at_ >= text_.size()) return no_end();
      TW_ASSIGN_OR_RETURN(const std::optional<uint8_t> low, member(set));
      if (!low) continue;
      if (!range_here()) {
        set.set(*low);
        continue;
      }
      ++at_;
      TW_ASSIGN_OR_RETURN(const std::optional<uint8_t> high, member(set));
      if (!high || *high < *low)
        return wrong("a range in brackets ends before it begins",
                     "write the smaller one first, and a - for itself last");
      for (unsigned one = *low; one <= *high; ++one) set.set(one);
    }
    ++at_;
    set = with_both_cases(set);
    return atom(class_text(inverted ? ~set : set));
  }

  static Error no_end() { return wrong("a [ has no ]", "write \\[ for the character itself"); }
  bool ends_here() const { return at_ < text_.size() && text_[at_] == ']'; }
  bool range_here() const {
    return at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
  }

  /// A byte; or nullopt, and all of a class in `set`.
  Result<std::optional<uint8_t>> member(ByteSet& set) {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (text_[at_] != '[' || (next != ':' && next != '=' && next != '.'))
      return std::optional<uint8_t>(static_cast<uint8_t>(text_[at_++]));
    if (next != ':')
      return wrong(fmt::format("[{0} {0}] in brackets is not known here", next),
                   "write the characters");
    const size_t end = text_.find(":]", at_ + 2);
    if (end == std::string_view::npos) return no_end();
    const std::string_view name = text_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 2;
    for (const Class& one : kClasses) {
      if (one.name != name) continue;
      set |= set_of(one.has);
      return std::optional<uint8_t>();
    }
    return wrong(fmt::format("there is no class [:{}:]", printable(name)),
                 "there are alpha, digit, alnum, upper, lower, space, blank, punct, print, graph, "
                 "cntrl, xdigit");
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t open_ = 0;  // groups
  bool repeatable_ = false;
  std::string out_;
};

}  // namespace

Result<std::string> engine_syntax(std::string_view pattern) {
  return PatternReader(pattern).read();
}

}  // namespace tracewell::filter
