// Switches and BITFLAGS, and what can be said of their numbers beforehand.
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "report/compile/compile.h"

namespace tracewell::report {
namespace {

int digits_of(Base base) {
  switch (base) {
    case Base::Binary:
      return 2;
    case Base::Octal:
      return 8;
    case Base::Decimal:
      return 10;
    default:
      return 16;
  }
}

/// The numbers that a datum can have.
struct Range {
  int64_t least = 0;
  uint64_t most = ~uint64_t{0};
};

Range range_of(const CodeUse& use) {
  const unsigned bits = use.code == Code::B    ? use.bytes * 8 + use.bits
                        : use.code == Code::HT ? 16
                        : use.code == Code::W  ? use.bits - use.bytes + 1
                        : use.bytes == 0       ? 8
                                               : use.bytes * 8;
  if (use.code == Code::HB) return {};
  if (use.code == Code::D || use.code == Code::E) {
    if (bits >= 64) return {std::numeric_limits<int64_t>::min(), INT64_MAX};
    const auto half = int64_t{1} << (bits - 1);
    return {-half, static_cast<uint64_t>(half) - 1};
  }
  return {0, codes::low_bits(~uint64_t{0}, bits)};
}

}  // namespace

/// Compiles what a case does and a jump, whose target is not known yet. Returns the jump.
uint32_t Compiler::case_body(const Case& it) {
  items(it.items);
  emit(Op::Jump);
  return static_cast<uint32_t>(program_.code.size() - 1);
}

/// `key_of` says what a case is equal to; nullopt when it has told that this is an error.
template <class Key, class KeyOf>
void Compiler::cases(const Item& item, Op op, std::vector<Switch<Key>>& tables, KeyOf key_of) {
  // What a case does may be a switch, too, and get the next table.
  const size_t table = tables.size();
  tables.emplace_back();
  emit(op).index = static_cast<uint32_t>(table);
  std::map<Key, uint32_t> targets;
  std::vector<uint32_t> jumps;
  std::optional<uint32_t> any;
  for (const Case& it : item.cases) {
    const uint32_t target = here();
    if (any) diagnostics_.warning(it.place, "unreachable-case", "the case \\* before it takes all");
    if (it.any) {
      if (!any) any = target;
    } else if (const std::optional<Key> key = key_of(it)) {
      const bool known = targets.contains(*key);
      if (known)
        diagnostics_.warning(it.place, "unreachable-case",
                             fmt::format("an earlier case takes {} already", printable(it.text)));
      if (!known && !any) targets.emplace(*key, target);
    }
    jumps.push_back(case_body(it));
  }
  const uint32_t end = here();
  for (const uint32_t jump : jumps) program_.code[jump].index = end;
  tables[table] = {{targets.begin(), targets.end()}, any.value_or(end), end};
}

std::optional<int64_t> Compiler::number_case(const Case& it, const Source& source) {
  if (it.quoted) {
    diagnostics_.error(
        it.place, "case",
        fmt::format("expected a number in base {}, found a string", digits_of(source.base)));
    return std::nullopt;
  }
  const auto number = number_of({it.place, it.text}, source.base);
  if (!number) return std::nullopt;
  check_fits({it.place, it.text}, *number, source, "case");
  return static_cast<int64_t>(*number);
}

std::string Compiler::text_case(const Case& it, const Source& source) {
  if (source.use && source.use->code == Code::A &&
      it.text.size() > std::max<size_t>(source.use->bytes, 1))
    diagnostics_.warning(it.place, "too-wide",
                         fmt::format("the case has {} characters and A{} reads fewer: it never "
                                     "matches",
                                     it.text.size(), source.use->bytes));
  return it.text;
}

void Compiler::choice(const Item& item) {
  Source source;
  if (!resolve(*item.datum, source)) return;
  const bool wide = source.use && source.use->code == Code::X && source.use->bytes > 8;
  if (source.role == Role::Call || source.role == Role::Act || source.base == Base::Real || wide) {
    diagnostics_.error(item.datum->place, "switch",
                       "a switch is over a number of up to 8 bytes, or over a text");
    return;
  }
  if (source.base == Base::Text && source.role != Role::Code && source.use) {
    diagnostics_.error(item.datum->place, "switch", "a switch cannot be over %S");
    return;
  }
  push(source);
  if (source.base == Base::Text) {
    cases(item, Op::SwitchText, program_.text_switches,
          [&](const Case& it) { return std::optional(text_case(it, source)); });
  } else {
    cases(item, Op::Switch, program_.switches,
          [&](const Case& it) { return number_case(it, source); });
  }
}

void Compiler::bit_flags(const Item& item) {
  const auto source = push_number(*item.datum, "what BITFLAGS looks at");
  if (!source) return;
  const size_t guard = program_.code.size();
  emit(Op::Guard);
  for (const Flag& it : item.flags) flag(it, *source);
  emit(Op::Pop);
  program_.code[guard].index = here();
}

void Compiler::flag(const Flag& flag, const Source& source) {
  const auto value = number_of(flag.value, Base::Hex);
  check_octal(flag.value, source);
  if (!value) return;
  const size_t test = program_.code.size();
  if (flag.mask) {
    check_octal(*flag.mask, source);
    const auto mask = number_of(*flag.mask, Base::Hex);
    if (!mask) return;
    if ((*value & ~*mask) != 0)
      diagnostics_.warning(flag.value.place, "flag-never-matches",
                           fmt::format("{} has bits that the mask {} clears (both are hex): it "
                                       "never matches",
                                       flag.value.text, flag.mask->text));
    emit(Op::UnlessField).count = static_cast<uint32_t>(program_.fields.size());
    program_.fields.push_back({*mask, *value});
  } else {
    if (*value == 0)
      diagnostics_.warning(flag.value.place, "flag-never-matches",
                           "no value has a bit of 0: it never matches");
    emit(Op::UnlessFlag).number = *value;
  }
  check_fits(flag.value, *value, source, "flag");
  here();
  text(flag.when_set, false);
  if (flag.when_clear && !flag.when_clear->empty()) {
    const size_t jump = program_.code.size();
    emit(Op::Jump);
    program_.code[test].index = here();
    text(*flag.when_clear, false);
    program_.code[jump].index = here();
  } else {
    program_.code[test].index = here();
  }
}

std::optional<uint64_t> Compiler::number_of(const Literal& literal, Base base) {
  std::string_view digits = literal.text;
  const bool minus = base == Base::Decimal && digits.starts_with('-');
  if (minus) digits.remove_prefix(1);
  int radix = digits_of(base);
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    radix = 16;
    digits.remove_prefix(2);
  } else if (digits.starts_with('o')) {
    radix = 8;
    digits.remove_prefix(1);
  }
  uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, radix);
  if (error == std::errc() && stop == end) return minus ? 0 - number : number;
  diagnostics_.error(literal.place, "number",
                     error == std::errc::result_out_of_range
                         ? fmt::format("{} is wider than 8 bytes", literal.text)
                         : fmt::format("expected a number in base {}, found \"{}\"", radix,
                                       printable(literal.text)));
  return std::nullopt;
}

void Compiler::check_fits(const Literal& literal, uint64_t number, const Source& source,
                          std::string_view name) {
  Range range;
  if (source.use) range = range_of(*source.use);
  if (source.role == Role::Builtin && !source.use &&
      static_cast<Builtin>(source.index) == Builtin::HD)
    range.most = 0xffff;
  const auto as_signed = static_cast<int64_t>(number);
  const bool below = range.least < 0 && as_signed < 0;
  const bool fits = below ? as_signed >= range.least : number <= range.most;
  if (!fits) {
    diagnostics_.warning(
        literal.place, "too-wide",
        fmt::format("the {} {} does not fit what is read: it never matches", name, literal.text));
  } else if (source.mask && name == "case" && (number & ~*source.mask) != 0) {
    diagnostics_.warning(
        literal.place, "too-wide",
        fmt::format("the mask clears bits of the case {}: it never matches", literal.text));
  }
}

/// Flags are hex whatever the datum is, which surprises where it is octal.
void Compiler::check_octal(const Literal& literal, const Source& source) {
  const bool octal = source.use && source.use->code == Code::o;
  const std::string_view text = literal.text;
  if (!octal || text.size() < 2 || text[0] != '0') return;
  if (text.find_first_not_of("01234567") != std::string::npos) return;
  diagnostics_.warning(literal.place, "octal-flag",
                       fmt::format("{} is read as hex although the datum is octal; write o{} if "
                                   "octal is meant",
                                   text, text));
}

}  // namespace tracewell::report
