#include "report/codes.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tracewell::report {
namespace {

constexpr uint32_t any_width() {
  return ~uint32_t{0};
}
constexpr uint32_t one_of(std::initializer_list<unsigned> widths) {
  uint32_t bits = 0;
  for (const unsigned width : widths) bits |= uint32_t{1} << width;
  return bits;
}
constexpr uint32_t range(unsigned from, unsigned to) {
  uint32_t bits = 0;
  for (unsigned width = from; width <= to && width < 31; ++width) bits |= uint32_t{1} << width;
  return to >= 31 ? any_width() : bits;
}

constexpr CodeInfo kCodes[] = {
#define CODE(name, shape, cast, widths, base, reads, prints) \
  {#name, CodeShape::shape, CodeCast::cast, widths, Base::base, reads, prints},
#include "report/codes.def"
};

constexpr uint32_t kTextBytesMax = 65535;
constexpr uint32_t kColumnsMax = 512;

/// "1, 2 or 4", "1 to 8".
std::string widths_text(uint32_t widths) {
  std::vector<unsigned> all;
  for (unsigned width = 0; width < 31; ++width)
    if ((widths >> width & 1) != 0) all.push_back(width);
  if (all.size() > 4) return fmt::format("{} to {}", all.front(), all.back());
  if (all.size() == 1) return fmt::format("{}", all[0]);
  return fmt::format("{} or {}", fmt::join(all.begin(), all.end() - 1, ", "), all.back());
}

/// What is wrong with the numbers of a code; "" = nothing.
std::string wrong_numbers(const CodeInfo& info, const CodeText& text) {
  const uint64_t bytes = text.bytes.value_or(0), bits = text.bits.value_or(0);
  if (text.bits && info.shape != CodeShape::BytesBits)
    return fmt::format("{} has no number behind a dot", info.name);
  if (info.shape == CodeShape::Bare) {
    return text.bytes ? fmt::format("{} has no number", info.name) : std::string();
  }
  if (!text.bytes) return fmt::format("{} needs a number of bytes", info.name);
  if (info.widths != any_width() && (bytes > 31 || (info.widths >> bytes & 1) == 0))
    return fmt::format("{} takes {} bytes", info.name, widths_text(info.widths));
  if (info.name == "A" && (bytes > kTextBytesMax || bits > kColumnsMax))
    return fmt::format("A takes up to {} bytes and {} columns", kTextBytesMax, kColumnsMax);
  if (info.name == "B" && (bytes > 8 || bits > 64 || bytes * 8 + bits > 64 || bytes + bits == 0))
    return "B takes 1 to 64 bits";
  if (info.name == "W" && (!text.bits || bytes > bits || bits > 63))
    return "W takes two bits, the lower first, both up to 63";
  return {};
}

}  // namespace

const CodeInfo& code_info(Code code) {
  return kCodes[static_cast<size_t>(code)];
}

std::optional<Code> find_code(std::string_view letters) {
  for (size_t i = 0; i < std::size(kCodes); ++i)
    if (kCodes[i].name == letters) return static_cast<Code>(i);
  return std::nullopt;
}

std::optional<CodeUse> check_code(const CodeText& text, bool as_cast, Diagnostics& diagnostics) {
  const auto code = find_code(text.letters);
  if (!code || (as_cast && code_info(*code).cast == CodeCast::No)) return std::nullopt;
  const std::string wrong = wrong_numbers(code_info(*code), text);
  if (!wrong.empty()) {
    diagnostics.error(text.place, "code-width", wrong);
    return std::nullopt;
  }
  CodeUse use;
  use.code = *code;
  use.bytes = static_cast<uint32_t>(text.bytes.value_or(0));
  use.bits = static_cast<uint16_t>(text.bits.value_or(0));
  use.has_bits = text.bits.has_value();
  return use;
}

bool read_code(Context& context, const CodeUse& use, Value& value) {
  switch (use.code) {
#define CODE(name, shape, cast, widths, base, reads, prints)                                       \
  case Code::name:                                                                                 \
    if constexpr (CodeCast::cast != CodeCast::Only) return codes::name::read(context, use, value); \
    break;
#include "report/codes.def"
  }
  return false;
}

uint64_t narrow(const CodeUse& use, uint64_t number) {
  switch (use.code) {
#define CODE(name, shape, cast, widths, base, reads, prints)                               \
  case Code::name:                                                                         \
    if constexpr (CodeCast::cast != CodeCast::No) return codes::name::narrow(number, use); \
    break;
#include "report/codes.def"
  }
  return number;
}

void print_code(Context& context, const CodeUse& use, const Value& value) {
  switch (use.code) {
#define CODE(name, shape, cast, widths, base, reads, prints) \
  case Code::name:                                           \
    return codes::name::print(context, use, value);
#include "report/codes.def"
  }
}

std::string_view up_to_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

namespace codes {

bool read_number(Context& context, const CodeUse& use, uint64_t bytes, uint64_t& number) {
  const uint64_t left = context.cursor.left();
  if (const uint8_t* from = context.cursor.take(bytes)) {
    number = load_uint(from, bytes, context.entry->endian);
    return true;
  }
  char text[80];
  const auto end =
      fmt::format_to_n(text, sizeof text, "{}{} reads behind the entry: {} of {} bytes",
                       code_info(use.code).name, use.bytes, left, bytes);
  context.read_failed = true;
  context.fault({text, std::min(end.size, sizeof text)});
  return false;
}

void take_text(Context& context, uint64_t bytes, Value& value) {
  const uint64_t there = std::min(bytes, context.cursor.left());
  value.missing = bytes - there;
  const uint8_t* from = context.cursor.take(there);
  value.text = {reinterpret_cast<const char*>(from), there};
}

void print_text(Context& context, const CodeUse& use, const Value& value) {
  context.line.outside(value.text);
  if (value.missing == 0) return;
  char text[80];
  const auto end = fmt::format_to_n(text, sizeof text, "{} reads {} bytes behind the entry",
                                    code_info(use.code).name, value.missing);
  context.read_failed = true;
  context.fault({text, std::min(end.size, sizeof text)});
}

void print_decimal(Context& context, uint64_t number, bool is_signed) {
  constexpr size_t kDigitsMax = 20;
  char* to = context.line.item(kDigitsMax);
  const auto [end, error] = is_signed
                                ? std::to_chars(to, to + kDigitsMax, static_cast<int64_t>(number))
                                : std::to_chars(to, to + kDigitsMax, number);
  context.line.commit(static_cast<size_t>(end - to));
}

namespace {
/// Two hex digits of each byte.
struct HexPairs {
  char text[512];
  constexpr HexPairs() : text() {
    for (int i = 0; i < 256; ++i) {
      text[2 * i] = "0123456789ABCDEF"[i >> 4];
      text[2 * i + 1] = "0123456789ABCDEF"[i & 15];
    }
  }
};
constexpr HexPairs kHexPairs;
}  // namespace

void print_hex(Context& context, uint64_t number, unsigned digits_min) {
  unsigned digits = number == 0 ? 1 : (67 - static_cast<unsigned>(__builtin_clzll(number))) / 4;
  if (digits < digits_min) digits = digits_min;
  char* to = context.line.item(digits);
  unsigned left = digits;
  for (; left > 1; left -= 2, number >>= 8)
    std::memcpy(to + left - 2, kHexPairs.text + (number & 0xff) * 2, 2);
  if (left == 1) *to = kHexPairs.text[(number & 15) * 2 + 1];
  context.line.commit(digits);
}

}  // namespace codes
}  // namespace tracewell::report
