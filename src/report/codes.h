// The data codes of codes.def: what each is allowed to look like, and how it reads and prints.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "report/compile/ast.h"
#include "report/render/context.h"

namespace tracewell::report {

enum class Code : uint8_t {
#define CODE(name, shape, cast, widths, base, reads, prints) name,
#include "report/codes.def"
};

enum class CodeShape : uint8_t { Bare, Bytes, BytesBits };
enum class CodeCast : uint8_t { No, Yes, Only };
enum class Base : uint8_t { Binary, Octal, Decimal, Hex, Text, Real };

struct CodeInfo {
  std::string_view name;
  CodeShape shape;
  CodeCast cast;
  uint32_t widths;  // bit m = takes m bytes; all bits = any number
  Base base;
  std::string_view reads, prints;
};
const CodeInfo& code_info(Code code);
std::optional<Code> find_code(std::string_view letters);

/// A code with its numbers, checked.
struct CodeUse {
  Code code = Code::X;
  bool has_bits = false;
  uint16_t bits = 0;   // behind the dot
  uint32_t bytes = 0;  // before it
};

/// What a code read, or a macro is.
struct Value {
  uint64_t number = 0;
  std::string_view text;  // of text codes and macros; of X9 to X16 the bytes
  uint64_t missing = 0;   // bytes of `text` that the entry does not have
};

namespace codes {

// read: at the pointer, which moves; false (and a fault in the line) when it cannot.
// narrow: what a cast makes of a macro's number. print: the text of it.
#define CODE(name, shape, cast, widths, base, reads, prints)                     \
  struct name {                                                                  \
    static bool read(Context& context, const CodeUse& use, Value& value);        \
    static uint64_t narrow(uint64_t number, const CodeUse& use);                 \
    static void print(Context& context, const CodeUse& use, const Value& value); \
  };
#include "report/codes.def"

// What several of them are made of.
bool read_number(Context& context, const CodeUse& use, uint64_t bytes, uint64_t& number);
/// As many of `bytes` as there are; `missing` says how many are not.
void take_text(Context& context, uint64_t bytes, Value& value);
void print_text(Context& context, const CodeUse& use, const Value& value);
void print_decimal(Context& context, uint64_t number, bool is_signed);
/// Upper case, at least `digits_min` digits.
void print_hex(Context& context, uint64_t number, unsigned digits_min);
constexpr uint64_t low_bits(uint64_t number, unsigned bits) {
  return bits >= 64 ? number : number & ((uint64_t{1} << bits) - 1);
}
constexpr uint64_t sign_extend(uint64_t number, unsigned bits) {
  if (bits == 0 || bits >= 64) return number;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return (low_bits(number, bits) ^ sign) - sign;
}

}  // namespace codes

bool read_code(Context& context, const CodeUse& use, Value& value);
/// Of a code that casts.
uint64_t narrow(const CodeUse& use, uint64_t number);
void print_code(Context& context, const CodeUse& use, const Value& value);
/// The text up to the first NUL.
std::string_view up_to_nul(std::string_view text);

/// The code that was written, or a diagnostic. As a cast: nullopt without one when nobody
/// understands it.
std::optional<CodeUse> check_code(const CodeText& text, bool as_cast, Diagnostics& diagnostics);

}  // namespace tracewell::report
