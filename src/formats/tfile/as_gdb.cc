#include "formats/tfile/as_gdb.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/message.h"
#include "base/text/text.h"
#include "rsp/text.h"

namespace tracewell::formats {
namespace {

enum class StatusField { Number, MaybeText, TextAndNumber, Text, Unknown };

struct NamedField {
  std::string_view name;
  StatusField field;
};
/// In the order in which GDB compares them. The first kStops are reasons to stop.
constexpr NamedField kStatusFields[] = {
    {"tfull", StatusField::Number},         {"tnotrun", StatusField::Number},
    {"tpasscount", StatusField::Number},    {"tstop", StatusField::MaybeText},
    {"tdisconnected", StatusField::Number}, {"terror", StatusField::TextAndNumber},
    {"tunknown", StatusField::Number},      {"tframes", StatusField::Number},
    {"tcreated", StatusField::Number},      {"tfree", StatusField::Number},
    {"tsize", StatusField::Number},         {"circular", StatusField::Number},
    {"disconn", StatusField::Number},       {"starttime", StatusField::Number},
    {"stoptime", StatusField::Number},      {"username", StatusField::Text},
    {"notes", StatusField::Text},
};

constexpr size_t kStops = 7;

/// GDB compares as many characters as the file has, so that `n` is `notes`.
StatusField status_field(std::string_view name) {
  const auto* at = std::ranges::find_if(
      kStatusFields, [&](const NamedField& one) { return one.name.starts_with(name); });
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

/// Of a number nothing but its end matters: where there is more before the next field, GDB skips
/// that one.
bool is_plain_value(std::string_view value, StatusField field) {
  if (field == StatusField::Number) return value.find(':') == std::string_view::npos;
  rsp::TextReader in(value);
  if (in.take_hex_digits().size() % 2 != 0) return false;
  return (field == StatusField::Text || (in.skip(':') && in.hex())) && in.done();
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

bool is_status_field(std::string_view name) {
  return std::ranges::find(kStatusFields, name, &NamedField::name) != std::end(kStatusFields);
}

bool is_plain_status(std::string_view text) {
  if (!text.starts_with('0') && !text.starts_with('1')) return false;
  text.remove_prefix(1);
  if (text.empty()) return true;
  if (!text.starts_with(';')) return false;
  bool seen[std::size(kStatusFields)] = {};
  for (const std::string_view field : split(text.substr(1), ';')) {
    const size_t colon = field.find(':');
    if (colon == std::string_view::npos) return false;
    const auto* at = std::ranges::find(kStatusFields, field.substr(0, colon), &NamedField::name);
    if (at == std::end(kStatusFields) || !is_plain_value(field.substr(colon + 1), at->field))
      return false;
    bool& before = seen[at - std::begin(kStatusFields)];
    if (before && at->field != StatusField::Number) return false;
    before = true;
  }
  return std::count(seen, seen + kStops, true) <= 1;
}

bool is_line_that_gdb_only_shows(std::string_view line) {
  constexpr std::string_view kBegins[] = {"R ", "status ", "tsv ", "tp ", "tdesc "};
  return !line.empty() && printable_length(line) == line.size() &&
         std::ranges::none_of(kBegins, [&](auto begin) { return line.starts_with(begin); });
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
