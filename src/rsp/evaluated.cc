#include "rsp/evaluated.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/message.h"

namespace tracewell::rsp {
namespace {

/// GDB takes each piece of a long text for a whole one, so what is told of a place is one piece.
constexpr size_t kPlaceMax = 256;
constexpr size_t kDepthMax = 256;

/// What a parenthesis may follow without a call.
constexpr std::string_view kOperatorWords[] = {
    "sizeof", "alignof", "_Alignof", "typeof", "typeid", "__typeof", "decltype", "__decltype",
    "__typeof__", "and", "or", "not", "xor", "bitand", "bitor", "compl", "mod", "div", "rem",
    "then", "else", "in", "AND", "OR", "NOT", "MOD", "DIV"};

bool is_name_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// The word, with its `$`, that `text` ends with.
std::string_view last_word(std::string_view text) {
  const auto is_part = [](char c) { return is_name_byte(c) || c == '$'; };
  size_t begin = text.size();
  while (begin > 0 && is_part(text[begin - 1])) --begin;
  return text.substr(begin);
}

/// Does a parenthesis behind `before` call something? Not behind a cast, which has no `$` in it.
bool is_call(std::string_view before, bool behind_cast) {
  before = before.substr(0, before.find_last_not_of(" \t") + 1);
  if (before.empty()) return false;
  if (before.back() == ')') return !behind_cast;
  if (std::string_view("]}'\"").find(before.back()) != std::string_view::npos) return true;
  const std::string_view word = last_word(before);
  return !word.empty() && std::ranges::find(kOperatorWords, word) == std::end(kOperatorWords);
}

/// `char (*)[16]`: what is in the parenthesis at `at` points to what is in front of it.
bool declares(std::string_view expression, size_t at) {
  const size_t inside = expression.find_first_not_of(" \t", at + 1);
  if (inside == std::string_view::npos || (expression[inside] != '*' && expression[inside] != '&'))
    return false;
  const std::string_view before = expression.substr(0, at);
  const std::string_view word = last_word(before.substr(0, before.find_last_not_of(" \t") + 1));
  return !word.empty() && word.find('$') == std::string_view::npos;
}

/// `/srv/My Project/t c.c:12`: GDB takes a file's name for what is in front of a line's number.
bool is_line_of_file(std::string_view place) {
  const size_t colon = place.rfind(':');
  if (!place.starts_with('/') || colon == std::string_view::npos || colon + 1 == place.size() ||
      place.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
    return false;
  constexpr std::string_view kInName = "/._-+~@#% ";
  const std::string_view name = place.substr(0, colon);
  return name.find(" -") == std::string_view::npos && std::ranges::all_of(name, [&](char c) {
           return is_name_byte(c) || kInName.find(c) != std::string_view::npos;
         });
}

bool is_number_behind(std::string_view word, std::string_view prefix) {
  return word.size() > prefix.size() && word.starts_with(prefix) &&
         word.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

/// No function's name: those of registers, and what only tracepoints have.
bool is_value_name(std::string_view word) {
  constexpr std::string_view kValues[] = {
      "regs", "args", "locals", "reg", "_ret", "_sdata", "pc", "sp", "fp", "ps", "flags",
      "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip", "eflags", "fs_base", "gs_base",
      "eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "eip", "ax", "bx", "cx", "dx", "al",
      "bl", "cl", "dl", "ah", "bh", "ch", "dh", "cs", "ss", "ds", "es", "fs", "gs", "orig_rax",
      "trace_frame", "tpnum", "trace_line", "trace_thread", "trace_cpu", "trace_timestamp", "lr"};
  constexpr std::string_view kNumbered[] = {"r", "x", "w", "st", "mm", "xmm", "ymm", "zmm", "k"};
  return std::ranges::find(kValues, word) != std::end(kValues) ||
         std::ranges::any_of(kNumbered,
                             [&](std::string_view one) { return is_number_behind(word, one); });
}

/// GDB calls a function of its own where its name, or an expression with that, has a parenthesis
/// behind it. Its names begin with `_`: so no parenthesis may follow one. One of a user's own
/// script may have any other name, as variables have. Where there is no quote, which parenthesis
/// closes which is told by calls_functions(); what is in quotes, the author may have made hard to
/// tell.
bool may_name_function(std::string_view expression) {
  const bool quotes = expression.find_first_of("\"'`") != std::string_view::npos;
  bool named = false, may_be = false;
  for (size_t at = 0; at < expression.size(); ++at) {
    if (expression[at] == '$') {
      size_t end = at + 1;
      while (end < expression.size() && is_name_byte(expression[end])) ++end;
      const std::string_view word = expression.substr(at + 1, end - at - 1);
      if (is_value_name(word)) continue;
      named |= word.starts_with('_');
      may_be |= quotes;
    } else if (expression[at] == '(') {
      const size_t before = expression.substr(0, at).find_last_not_of(" \t");
      if (named || (may_be && before != std::string_view::npos && expression[before] == ')'))
        return true;
    }
  }
  return false;
}

/// A keyword ends a place, and an expression begins.
bool has_keyword(std::string_view place) {
  for (const std::string_view word : {" if ", " thread ", " task ", " inferior ", " -force"})
    if (place.find(word) != std::string_view::npos) return true;
  return false;
}

}  // namespace

bool is_plain_linespec(std::string_view place) {
  constexpr std::string_view kFirst = ":./~", kOutside = ":./~+-@", kInside = " ,*&[]:";
  if (place.empty() || place.size() > kPlaceMax || printable_length(place) != place.size())
    return false;
  if (is_line_of_file(place)) return !has_keyword(place);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::", kConst = " const";
  if (place.starts_with(kAnonymous)) place.remove_prefix(kAnonymous.size());
  if (place.ends_with(')' + std::string(kConst))) place.remove_suffix(kConst.size());
  if (place.empty()) return false;
  if (!is_name_byte(place[0]) && kFirst.find(place[0]) == std::string_view::npos) return false;
  int depth = 0;
  for (const char c : place) {
    if (c == '<' || c == '(')
      ++depth;
    else if (c == '>' || c == ')')
      --depth;
    else if (!is_name_byte(c) && (depth > 0 ? kInside : kOutside).find(c) == std::string_view::npos)
      return false;
    if (depth < 0) return false;
  }
  return depth == 0;
}

bool is_plain_address(std::string_view place) {
  if (!place.starts_with("*0x") || place.size() == 3 || place.size() > kPlaceMax) return false;
  return place.find_first_not_of("0123456789abcdefABCDEF", 3) == std::string_view::npos;
}

bool calls_functions(std::string_view expression) {
  if (may_name_function(expression)) return true;
  std::vector<size_t> open;  // where the parentheses that are open began
  size_t group = 0;          // where the one began that was closed last
  size_t dollar = 0;         // behind the last `$`
  for (size_t at = 0; at < expression.size(); ++at) {
    if (expression[at] == '$') {
      dollar = at + 1;
    } else if (expression[at] == '(') {
      const bool within = dollar <= (open.empty() ? 0 : open.back());  // no `$` in front of it
      const bool calls = !(within && declares(expression, at)) &&
                         is_call(expression.substr(0, at), dollar <= group);
      if (open.size() == kDepthMax || calls) return true;
      open.push_back(at);
    } else if (expression[at] == ')') {
      group = open.empty() ? 0 : open.back();
      if (!open.empty()) open.pop_back();
    }
  }
  return false;
}

bool assigns(std::string_view expression) {
  while (!expression.empty()) {
    const std::string_view three = expression.substr(0, 3), two = expression.substr(0, 2);
    if (three == "<<=" || three == ">>=" || two == "++" || two == "--" || expression[0] == '=') {
      if (two != "==") return true;
      expression.remove_prefix(2);
    } else {
      const bool compares = two == "!=" || two == "<=" || two == ">=";
      expression.remove_prefix(compares ? 2 : 1);
    }
  }
  return false;
}

}  // namespace tracewell::rsp
