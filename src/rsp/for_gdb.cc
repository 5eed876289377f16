#include "rsp/for_gdb.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/message.h"
#include "base/text/text.h"
#include "base/text/xml.h"
#include "rsp/evaluated.h"

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

bool understands_place(std::string_view place, const GdbMeans& means) {
  if (is_plain_address(place)) return true;
  return is_plain_linespec(place) && (means.symbols || stays_pending(place));
}

/// `-function NAME`, `-source FILE -line N`, as GDB also writes places that were given so.
std::string in_short(std::string place) {
  constexpr std::string_view kFunction = "-function ", kSource = "-source ", kLine = " -line ";
  if (place.starts_with(kFunction)) return place.substr(kFunction.size());
  const size_t line = place.find(kLine);
  if (!place.starts_with(kSource) || line == std::string::npos) return place;
  return place.substr(kSource.size(), line - kSource.size()) + ":" +
         place.substr(line + kLine.size());
}

/// Nothing in it acts on a terminal. GDB prints conditions and commands as they are.
bool is_shown_as_is(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return printable_length(text) == text.size();
}

/// A line of a tracepoint's actions: the first word, of which GDB takes a part for the whole, and
/// what stands behind it.
struct ActionLine {
  explicit ActionLine(std::string_view line) {
    constexpr std::string_view kBlanks = " \t";
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const size_t end = std::min(line.find_first_of(" \t/"), line.size());
    word = line.substr(0, end);
    rest = line.substr(end);
  }
  bool is(std::string_view name) const { return !word.empty() && name.starts_with(word); }

  std::string_view word, rest;
};

/// `/s80 EXPRESSION`: the expression alone. What else begins so stays: GDB reads letters and digits
/// of the modifier, and takes what follows for an expression, without a blank in between, too.
std::string_view without_modifier(std::string_view rest) {
  if (!rest.starts_with("/s")) return rest;
  const size_t end = std::min(rest.find_first_not_of("0123456789", 2), rest.size());
  return end == rest.size() || rest[end] == ' ' || rest[end] == '\t' ? rest.substr(end) : rest;
}

/// Of collect and teval: no modifier that is not understood.
bool is_harmless_expression(std::string_view text) {
  return !text.starts_with('/') && !calls_functions(text);
}

/// GDB looks at how these begin, and takes the rest for an expression that needs no check.
bool has_odd_keyword(std::string_view items) {
  constexpr std::string_view kBegins[] = {"$reg", "$arg", "$loc", "$_ret", "$_sdata"};
  constexpr std::string_view kWhole[] = {"$regs", "$args", "$locals", "$_ret", "$_sdata"};
  for (std::string_view item : split(items, ',')) {
    item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
    item = item.substr(0, item.find_last_not_of(" \t") + 1);
    const auto begins = [&](std::string_view word) {
      return item.size() >= word.size() &&
             std::ranges::equal(item.substr(0, word.size()), word, {}, [](char c) {
               return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
             });
    };
    if (std::ranges::any_of(kBegins, begins) &&
        std::ranges::find(kWhole, item) == std::end(kWhole))
      return true;
  }
  return false;
}

/// What is no action GDB would refuse, or keep for another time. Only these two have expressions.
bool is_harmless_command(std::string_view text) {
  const ActionLine line(text);
  const std::string_view rest = without_modifier(line.rest);
  if (line.is("collect"))
    return is_harmless_expression(rest) && !assigns(rest) && !has_odd_keyword(rest);
  if (line.is("teval")) return is_harmless_expression(line.rest);
  // As much of it as is not `while` or `step`, which are something else.
  const bool steps = line.word == "ws" || (line.word.size() > 5 && line.is("while-stepping")) ||
                     (line.word.size() > 5 && line.is("stepping"));
  return steps || line.word.empty() || line.word.starts_with('#') || line.word == "end";
}

bool is_harmless_source(const TracepointDef::Source& one, size_t piece_bytes) {
  if (one.text.size() > piece_bytes) return false;
  if (one.type == "cond") return is_shown_as_is(one.text) && !calls_functions(one.text);
  if (one.type == "cmd") return is_shown_as_is(one.text) && is_harmless_command(one.text);
  if (one.type == "at") return is_plain_address(one.text) || is_plain_linespec(one.text);
  // Of other types GDB knows none, but a type is what stands in front of a colon.
  return one.type.find(':') == std::string::npos;
}

bool understands_command(std::string_view text) {
  const ActionLine line(text);
  if (!line.is("collect") && !line.is("teval")) return true;
  return !has_program_names(without_modifier(line.rest));
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
  bool looks = true;  // at conditions and actions
  for (TracepointDef::Source& one : sources) {
    if (one.type != "at") continue;
    one.text = in_short(std::move(one.text));
    if (!understands_place(one.text, means)) one.text = fmt::format("*0x{:x}", definition.address);
    looks = one.text.starts_with('*');  // the last one counts
  }
  std::erase_if(sources, [&](const auto& one) {
    return !is_harmless_source(one, means.piece_bytes);
  });
  if (!means.symbols && looks)
    std::erase_if(sources, [](const TracepointDef::Source& one) {
      return (one.type == "cond" && has_program_names(one.text)) ||
             (one.type == "cmd" && !understands_command(one.text));
    });
  return definition;
}

/// GDB writes the name into a command (`save tracepoints`): `tvariable $NAME = 1`. When that is
/// read again it refuses what is no name, but what stands behind the first `=` it evaluates.
VariableDef for_gdb(VariableDef variable) {
  variable.name = printable(variable.name);
  std::ranges::replace(variable.name, '=', '_');
  return variable;
}

RunStatus for_gdb(RunStatus status) {
  status.stop_text = printable(status.stop_text);
  for (auto* text : {&status.user_name, &status.notes})
    if (*text) *text = printable(**text);
  return status;
}

bool is_fit_for_gdb(const Catalog& catalog) {
  const auto is_printable = [](std::string_view text) {
    return printable_length(text) == text.size();
  };
  const RunStatus status = catalog.status.value_or(RunStatus());
  return is_printable(status.stop_text) && is_printable(status.user_name.value_or("")) &&
         is_printable(status.notes.value_or("")) &&
         plain_xml(catalog.target_description) == catalog.target_description &&
         std::ranges::all_of(catalog.variables,
                             [&](const auto& one) { return for_gdb(one).name == one.name; }) &&
         std::ranges::all_of(catalog.tracepoints, [](const TracepointDef& one) {
           return std::ranges::all_of(one.sources, [](const auto& source) {
             return is_harmless_source(source, GdbMeans().piece_bytes);
           });
         });
}

}  // namespace tracewell::rsp
