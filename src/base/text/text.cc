#include "base/text/text.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text/message.h"

namespace tracewell {
namespace {

/// Of one whole character.
uint32_t code_point(std::string_view utf8) {
  const auto lead = static_cast<uint8_t>(utf8[0]);
  if (utf8.size() == 1) return lead;
  uint32_t out = lead & (0x7fu >> utf8.size());
  for (const char next : utf8.substr(1)) out = out << 6 | (static_cast<uint8_t>(next) & 0x3f);
  return out;
}

/// Length of the well-formed UTF-8 sequence at the head of `text`, 0 if there is none. What is
/// longer than it has to be, half of a pair of UTF-16, or behind the last character, is none
/// (RFC 3629).
size_t utf8_length(std::string_view text) {
  constexpr uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};  // that takes so many bytes
  const auto lead = static_cast<uint8_t>(text[0]);
  size_t length = 0;
  if (lead < 0x80) length = 1;
  else if (lead >> 5 == 6) length = 2;
  else if (lead >> 4 == 14) length = 3;
  else if (lead >> 3 == 30) length = 4;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return 0;
  const uint32_t code = code_point(text.substr(0, length));
  if (code < kFirst[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  return length;
}

/// What tells a terminal something, or shows text other than as it is: Unicode's categories Cc and
/// Cf (among them what turns the direction round), and separators of lines and paragraphs.
bool is_control(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
      {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
      {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
      {0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
      {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
      {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};
  return std::ranges::any_of(
      kRanges, [code](const auto& range) { return code >= range.first && code <= range.second; });
}

constexpr size_t kNearNamedMax = 3;
constexpr size_t kComparedLettersMax = 64;  // of a word that is compared

/// How many letters have to be put in, taken out, replaced or swapped with the next one.
size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  std::iota(rows[0].begin(), rows[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

/// The nearest first; one that begins with the word is near.
std::vector<std::string> nearest(std::vector<std::string> all, std::string_view word) {
  std::vector<std::pair<size_t, std::string>> found;
  for (std::string& name : all) {
    const bool begins = name.starts_with(word) || word.starts_with(name);
    const size_t far = begins ? 1 : letters_between(word, name);
    if (far <= std::max<size_t>(2, word.size() / 3)) found.emplace_back(far, std::move(name));
  }
  std::ranges::stable_sort(found, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string> out;
  for (auto& [far, name] : found) out.push_back(std::move(name));
  if (out.size() > kNearNamedMax) out.resize(kNearNamedMax);
  return out;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string_view take_until(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

std::optional<uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

size_t printable_length(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (byte >= 0x20 && byte < 0x7f) {
      ++at;
      continue;
    }
    const size_t length = utf8_length(text.substr(at));
    if (length == 0 || is_control(code_point(text.substr(at, length)))) break;
    at += length;
  }
  return at;
}

void append_plain_json(std::string& out, std::string_view json) {
  size_t told = 0;
  for (size_t at = 0; at < json.size();) {
    if (static_cast<uint8_t>(json[at]) < 0x7f) {
      ++at;
      continue;
    }
    const size_t length = utf8_length(json.substr(at));
    const uint32_t code = length == 0 ? 0xfffd : code_point(json.substr(at, length));
    const size_t next = at + std::max<size_t>(length, 1);
    if (length == 0 || is_control(code)) {
      out += json.substr(told, at - told);
      told = next;
      if (code > 0xffff)  // as two halves, which is how JSON has it
        out += fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
      else
        out += fmt::format("\\u{:04x}", code);
    }
    at = next;
  }
  out += json.substr(told);
}

std::string printable(std::string_view mapped) {
  // A copy: a file may be written to meanwhile, and what is printed is what was looked at.
  const std::string own(mapped);
  std::string_view text = own;
  std::string out;
  while (!text.empty()) {
    const size_t safe = printable_length(text);
    out += text.substr(0, safe);
    text.remove_prefix(safe);
    if (text.empty()) break;
    const size_t length = std::max<size_t>(utf8_length(text), 1);
    for (const char byte : text.substr(0, length))
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(byte));
    text.remove_prefix(length);
  }
  return out;
}

Error hinting(Error error, std::string_view what, std::string_view hint) {
  const size_t at = error.message.find(what);
  error.message.insert(at == std::string::npos ? error.message.size() : at + what.size(),
                       std::string(" ").append(hint));
  return error;
}

std::string did_you_mean(std::vector<std::string> all, std::string_view word,
                         std::string_view prefix) {
  const std::vector<std::string> others =
      nearest(std::move(all), word.substr(0, kComparedLettersMax));
  std::string out;
  for (size_t at = 0; at < others.size(); ++at)
    out += fmt::format("{}{}{}", at == 0                   ? "; did you mean "
                                 : at + 1 == others.size() ? " or "
                                                           : ", ",
                       prefix, others[at]);
  return others.empty() ? out : out + "?";
}

}  // namespace tracewell
