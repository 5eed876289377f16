#include "agent/session/format_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "agent/session/shown_text.h"

namespace tracewell::agent {
namespace {

constexpr uint64_t kFieldMax = 4096;       // width, precision
constexpr size_t kStringBytesMax = 16384;  // of one %s

Error bad(std::string message) { return {Errc::InvalidArgument, std::move(message), {}}; }

struct Directive {
  bool left = false, plus = false, space = false, alternative = false, zero = false;
  uint64_t width = 0;
  std::optional<uint64_t> precision;
  unsigned bits = 32;  // of an integer
  char letter = 0;
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  char take() { return done() ? '\0' : text_[at_++]; }
  bool skip(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  /// nullopt: too large.
  std::optional<uint64_t> number() {
    uint64_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + static_cast<uint64_t>(take() - '0');
      if (value > kFieldMax) return std::nullopt;
    }
    return value;
  }
  size_t at() const { return at_; }
  std::string from(size_t start) const { return std::string(text_.substr(start, at_ - start)); }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

/// What follows the `%`.
Result<Directive> read_directive(Cursor& in) {
  Directive one;
  const size_t start = in.at();
  for (bool flags = true; flags;) {
    switch (in.peek()) {
      case '-': one.left = true; break;
      case '+': one.plus = true; break;
      case ' ': one.space = true; break;
      case '#': one.alternative = true; break;
      case '0': one.zero = true; break;
      default: flags = false;
    }
    if (flags) in.take();
  }
  const auto width = in.number();
  std::optional<uint64_t> precision = uint64_t{0};
  if (in.skip(".")) one.precision = precision = in.number();
  if (!width || !precision) return bad(fmt::format("a field is wider than {}", kFieldMax));
  one.width = *width;
  static constexpr std::pair<std::string_view, unsigned> kSizes[] = {
      {"hh", 8}, {"h", 16}, {"ll", 64}, {"l", 64}, {"z", 64}, {"j", 64}, {"t", 64}};
  for (const auto& [word, bits] : kSizes)
    if (in.skip(word)) {
      one.bits = bits;
      break;
    }
  one.letter = in.take();
  const bool wide = one.bits != 32 && (one.letter == 'c' || one.letter == 's');
  if (one.letter == 0 || wide ||
      std::string_view("diouxXcspfFeEgG").find(one.letter) == std::string::npos)
    return bad(fmt::format("format directive '%{}' is not supported", in.from(start)));
  return one;
}

void add_padded(std::string& out, const Directive& one, std::string_view sign,
                std::string_view body, bool zeros) {
  const size_t size = sign.size() + body.size();
  const size_t pad = one.width > size ? one.width - size : 0;
  if (!one.left && !zeros) out.append(pad, ' ');
  out += sign;
  if (!one.left && zeros) out.append(pad, '0');
  out += body;
  if (one.left) out.append(pad, ' ');
}

std::string_view sign_of(const Directive& one, bool negative) {
  return negative ? "-" : one.plus ? "+" : one.space ? " " : "";
}

void add_integer(std::string& out, const Directive& one, uint64_t value) {
  const bool has_sign = one.letter == 'd' || one.letter == 'i';
  const unsigned unused = 64 - one.bits;
  value <<= unused;
  const bool negative = has_sign && static_cast<int64_t>(value) < 0;
  value = has_sign ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused) : value >> unused;
  if (negative) value = 0 - value;
  std::string digits, sign(has_sign ? sign_of(one, negative) : "");
  switch (one.letter) {
    case 'o': digits = fmt::format("{:o}", value); break;
    case 'x': digits = fmt::format("{:x}", value); break;
    case 'X': digits = fmt::format("{:X}", value); break;
    default: digits = fmt::format("{}", value);
  }
  if (value == 0 && one.precision == uint64_t{0}) digits.clear();
  if (one.precision && digits.size() < *one.precision)
    digits.insert(0, *one.precision - digits.size(), '0');
  if (one.alternative && one.letter == 'o' && !digits.starts_with('0')) digits.insert(0, 1, '0');
  if (one.alternative && value != 0 && (one.letter == 'x' || one.letter == 'X'))
    sign = {'0', one.letter};
  add_padded(out, one, sign, digits, one.zero && !one.precision);
}

void add_double(std::string& out, const Directive& one, double value) {
  const bool capital = one.letter < 'a';
  const char letter = capital ? static_cast<char>(one.letter + 'a' - 'A') : one.letter;
  const bool negative = std::signbit(value);
  std::string digits;
  if (!std::isfinite(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
  } else {
    const auto format = letter == 'f'   ? std::chars_format::fixed
                        : letter == 'e' ? std::chars_format::scientific
                                        : std::chars_format::general;
    digits.resize(kFieldMax + 512);  // the largest double has 309 digits
    const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), std::fabs(value),
                                    format, static_cast<int>(one.precision.value_or(6)));
    digits.resize(static_cast<size_t>(done.ptr - digits.data()));
  }
  if (capital)
    for (char& c : digits) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  add_padded(out, one, sign_of(one, negative), digits, one.zero && std::isfinite(value));
}

void add_string(std::string& out, const Directive& one, uint64_t address,
                const StringReader& read_string) {
  const size_t most = std::min<uint64_t>(one.precision.value_or(kStringBytesMax), kStringBytesMax);
  const std::string text = address == 0 ? "(null)" : read_string(address, most);
  add_padded(out, one, "", shown_text(std::string_view(text).substr(0, most)), false);
}

void add_value(std::string& out, const Directive& one, uint64_t value,
                 const StringReader& read_string) {
  switch (one.letter) {
    case 's': return add_string(out, one, value, read_string);
    case 'c': {
      const char c = static_cast<char>(value);
      return add_padded(out, one, "", shown_text({&c, 1}), false);
    }
    case 'p': return add_padded(out, one, "", value ? fmt::format("{:#x}", value) : "(nil)", false);
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': return add_integer(out, one, value);
    default: return add_double(out, one, std::bit_cast<double>(value));
  }
}

/// What follows a backslash. An unknown escape stands for itself.
void add_escape(std::string& out, Cursor& in) {
  static constexpr std::string_view kLetters = "abefnrtv\\\"", kMeaning = "\a\b\033\f\n\r\t\v\\\"";
  if (const size_t at = kLetters.find(in.peek()); !in.done() && at != std::string::npos) {
    in.take();
    out += kMeaning[at];
    return;
  }
  const auto is_octal = [&] { return in.peek() >= '0' && in.peek() <= '7'; };
  if (!is_octal()) {
    out += '\\';
    return;
  }
  unsigned value = 0;
  for (int digits = 0; digits < 3 && is_octal(); ++digits)
    value = value * 8 + static_cast<unsigned>(in.take() - '0');
  out += static_cast<char>(value);
}

}  // namespace

Result<std::string> format_text(std::string_view format, std::span<const uint64_t> arguments,
                                const StringReader& read_string) {
  std::string out;
  Cursor in(format);
  size_t used = 0;
  while (!in.done()) {
    if (out.size() > kFormattedBytesMax)
      return bad(fmt::format("more than {} bytes of text", kFormattedBytesMax));
    const char c = in.take();
    if (c == '\\') {
      add_escape(out, in);
    } else if (c != '%') {
      out += c;
    } else if (in.skip("%")) {
      out += '%';
    } else {
      TW_ASSIGN_OR_RETURN(const Directive one, read_directive(in));
      if (used == arguments.size()) return bad("the format wants more values than there are");
      add_value(out, one, arguments[used++], read_string);
    }
  }
  if (out.size() > kFormattedBytesMax)
    return bad(fmt::format("more than {} bytes of text", kFormattedBytesMax));
  return out;
}

}  // namespace tracewell::agent
