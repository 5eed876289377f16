#include "rsp/for_gdb.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace tracewell::rsp {
namespace {

constexpr std::string_view kWordsOfC[] = {"char",  "double", "float",  "int",      "long",
                                          "short", "signed", "sizeof", "unsigned", "void"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view take_word(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  const auto word = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

/// "…" or '…', of which the first character is there. What is longer than one character in '…' is
/// the name of a file or of a function.
bool take_quoted(std::string_view& text) {
  const char quote = text.front();
  const bool escaped = text.size() > 1 && text[1] == '\\';
  size_t end = 1;
  while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
  text.remove_prefix(std::min(end + 1, text.size()));
  return quote == '"' || escaped || end <= 2;
}

/// What GDB leaves pending when it does not know the name. It does not look at conditions and
/// actions then.
bool stays_pending(std::string_view place) {
  return is_word(place.front()) && !std::ranges::all_of(place, is_digit);
}

bool is_plain_address(std::string_view place) {
  if (!place.starts_with("*0x")) return false;
  return std::ranges::all_of(place.substr(3), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

bool understands_place(std::string_view place, const GdbMeans& means) {
  if (place.empty() || place.starts_with("-m") || place.starts_with("-probe")) return false;
  return means.symbols || is_plain_address(place) || stays_pending(place);
}

/// Of the commands only these two have expressions, which other words may stand behind a slash for.
bool understands_command(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = take_word(line);
  const bool collects = !word.empty() && std::string_view("collect").starts_with(word);
  if (!collects && (word.empty() || !std::string_view("teval").starts_with(word))) return true;
  if (line.starts_with("/")) line.remove_prefix(std::min(line.find(' '), line.size()));
  return !has_program_names(line);
}

}  // namespace

bool has_program_names(std::string_view expression) {
  while (!expression.empty()) {
    const char c = expression.front();
    if (c == '"' || c == '\'') {
      if (!take_quoted(expression)) return true;
    } else if (c == '$') {
      expression.remove_prefix(1);
      take_word(expression);
    } else if (is_word(c)) {
      const std::string_view word = take_word(expression);
      if (!is_digit(c) && std::ranges::find(kWordsOfC, word) == std::end(kWordsOfC)) return true;
    } else {
      expression.remove_prefix(1);
    }
  }
  return false;
}

TracepointDef for_gdb(TracepointDef definition, const GdbMeans& means) {
  if (!means.code) definition.fast_length.reset();
  auto& sources = definition.sources;
  const auto at = std::ranges::find(sources, std::string_view("at"), &TracepointDef::Source::type);
  if (at != sources.end() && !understands_place(at->text, means))
    at->text = fmt::format("*0x{:x}", definition.address);
  const bool looks = at == sources.end() || at->text.starts_with('*');
  if (!means.symbols && looks)
    std::erase_if(sources, [](const TracepointDef::Source& one) {
      return (one.type == "cond" && has_program_names(one.text)) ||
             (one.type == "cmd" && !understands_command(one.text));
    });
  return definition;
}

}  // namespace tracewell::rsp
