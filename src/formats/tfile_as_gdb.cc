#include "formats/tfile_as_gdb.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"
#include "rsp/text.h"

namespace tracewell::formats {
namespace {

enum class StatusField { Number, MaybeText, TextAndNumber, Text, Unknown };

struct NamedField {
  std::string_view name;
  StatusField field;
};
constexpr NamedField kStatusFields[] = {
    {"tnotrun", StatusField::Number},    {"tstop", StatusField::MaybeText},
    {"tfull", StatusField::Number},      {"tdisconnected", StatusField::Number},
    {"tpasscount", StatusField::Number}, {"terror", StatusField::TextAndNumber},
    {"tunknown", StatusField::Number},   {"tframes", StatusField::Number},
    {"tcreated", StatusField::Number},   {"tfree", StatusField::Number},
    {"tsize", StatusField::Number},      {"circular", StatusField::Number},
    {"disconn", StatusField::Number},    {"starttime", StatusField::Number},
    {"stoptime", StatusField::Number},   {"username", StatusField::Text},
    {"notes", StatusField::Text},
};

StatusField status_field(std::string_view name) {
  const auto at = std::ranges::find(kStatusFields, name, &NamedField::name);
  return at == std::end(kStatusFields) ? StatusField::Unknown : at->field;
}

/// Whole bytes; half a one at the end is left out.
bool is_status_text(std::string_view digits) {
  digits = digits.substr(0, digits.size() / 2 * 2);
  return std::ranges::all_of(digits, [](char c) { return hex_digit(c) >= 0; });
}

/// Takes a field's value. False: it ends GDB's reading.
bool take_status_value(rsp::TextReader& in, StatusField field) {
  const std::string_view rest = in.rest();
  const size_t end = std::min(rest.find(';'), rest.size());
  const size_t colon = rest.find(':');
  switch (field) {
    case StatusField::Unknown:
      in.take(end);
      return true;
    case StatusField::Text:
      in.take(end);
      return is_status_text(rest.substr(0, end));
    case StatusField::MaybeText:
      if (colon >= end) break;
      in.take(colon + 1);
      if (!is_status_text(rest.substr(0, colon))) return false;
      break;
    case StatusField::TextAndNumber:
      if (colon == std::string_view::npos || !is_status_text(rest.substr(0, colon))) return false;
      in.take(colon + 1);
      break;
    case StatusField::Number:
      break;
  }
  in.take_hex_digits();
  return true;
}

}  // namespace

BlockSize block_size_as_gdb(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\v\f\r";
  rsp::TextReader in(text);
  while (kBlanks.find(in.peek()) != std::string_view::npos) in.skip(in.peek());
  const bool negative = in.skip('-');
  if (!negative) in.skip('+');
  rsp::TextReader prefixed = in;
  if ((prefixed.skip("0x") || prefixed.skip("0X")) && hex_digit(prefixed.peek()) >= 0)
    in = prefixed;
  const size_t begin = in.offset();
  const auto value = in.hex();
  const auto bytes = static_cast<uint32_t>(value.value_or(0));
  if (!value || *value > INT64_MAX || bytes > INT32_MAX || negative) return {};
  return {bytes, text.substr(begin, in.offset() - begin)};
}

std::optional<std::string> status_fault_as_gdb(std::string_view text) {
  rsp::TextReader in(text);
  in.take(1);           // running, or whatever it says instead
  while (in.take(1)) {  // what separates fields is not looked at
    const std::string_view field = in.rest();
    if (field.find(':') == std::string_view::npos)
      return fmt::format("at \"{}\"", printable(field.substr(0, 40)));
    const StatusField kind = status_field(in.take_until(':'));
    if (!take_status_value(in, kind))
      return fmt::format("at \"{}\"", printable(field.substr(0, 40)));
  }
  return std::nullopt;
}

std::optional<std::string> tracepoint_fault_as_gdb(const Catalog& catalog) {
  constexpr uint64_t kJumpBytes = 5;
  if (catalog.machine != "x86-64") return std::nullopt;
  for (const TracepointDef& one : catalog.tracepoints)
    if (one.fast_length && *one.fast_length != 0 && *one.fast_length < kJumpBytes)
      return fmt::format(
          "GDB leaves out tracepoint {} and all behind it: it takes no fast "
          "tracepoint at an instruction of {} bytes",
          one.number, *one.fast_length);
  return std::nullopt;
}

}  // namespace tracewell::formats
