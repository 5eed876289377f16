// From the text of a template file to ast.h. The only file that sees the parser library, because
// it costs seconds to compile.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/limit_depth.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>

#include "base/text/text.h"
#include "report/compile/ast.h"
#include "report/compile/grammar_rules.h"

namespace tracewell::report {
namespace {

namespace pegtl = tao::pegtl;
using rules::Kind;
using Input = pegtl::memory_input<>;

struct Node : pegtl::parse_tree::basic_node<Node> {
  Kind kind = Kind::End;

  template <class Rule, class ParseInput, class... States>
  void start(const ParseInput& in, States&&...) {
    kind = Rule::kind;
    m_begin = pegtl::internal::iterator(in.iterator());
  }
  Place place() const {
    return {static_cast<uint32_t>(m_begin.line), static_cast<uint32_t>(m_begin.column)};
  }
  std::string_view text() const { return string_view(); }
  const Node* find(Kind wanted) const {
    for (const auto& child : children)
      if (child->kind == wanted) return child.get();
    return nullptr;
  }
};

template <class Rule>
    struct Kept : std::bool_constant < requires {
  Rule::kind;
} > {};

template <class Rule>
struct Control : pegtl::normal<Rule> {
  template <class ParseInput, class... States>
  [[noreturn]] static void raise(const ParseInput& in, States&&...) {
    if constexpr (requires { Rule::expected; }) {
      throw pegtl::parse_error(Rule::expected, in);
    } else {
      throw pegtl::parse_error("something else", in);
    }
  }
};

// Slips that are understood all the same; kept apart from the tree, since a rule that is tried and
// given up meets them again.
struct Slips {
  std::map<size_t, Place> blanks, backslash, escapes;  // by line
  static void add(std::map<size_t, Place>& to, const pegtl::position& at) {
    to.try_emplace(at.line,
                   Place{static_cast<uint32_t>(at.line), static_cast<uint32_t>(at.column)});
  }
};

template <class Rule>
struct Action : pegtl::nothing<Rule> {};
template <>
struct Action<rules::SlipBlanks> {
  template <class ActionInput>
  static void apply(const ActionInput& in, Slips& slips) {
    Slips::add(slips.blanks, in.position());
  }
};
template <>
struct Action<rules::MissingBackslash> {
  template <class ActionInput>
  static void apply(const ActionInput& in, Slips& slips) {
    Slips::add(slips.backslash, in.position());
  }
};
template <>
struct Action<rules::TextEscape> {
  template <class ActionInput>
  static void apply(const ActionInput& in, Slips& slips) {
    Slips::add(slips.escapes, in.position());
  }
};
// Only blocks nest. The parser recurses with them, and so does who walks over the result.
template <>
struct Action<rules::Block> : pegtl::limit_depth<rules::kBlocksMax> {};
template <>
struct Action<rules::LoopBlock> : pegtl::limit_depth<rules::kBlocksMax> {};

uint64_t number(std::string_view digits, int base) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc::result_out_of_range ? ~uint64_t{0} : value;
}

CodeText to_code(const Node& node) {
  CodeText code;
  code.place = node.place();
  std::string_view text = node.text();
  const size_t letters = std::min(text.find_first_of("0123456789."), text.size());
  code.letters = text.substr(0, letters);
  text.remove_prefix(letters);
  const std::string_view bytes = take_until(text, '.');
  if (!bytes.empty()) code.bytes = number(bytes, 10);
  if (!text.empty()) code.bits = number(text, 10);
  return code;
}

Datum to_datum(const Node& node) {
  Datum datum;
  datum.place = node.place();
  for (const auto& child : node.children) {
    if (child->kind == Kind::Macro) datum.macro = child->children.at(0)->text();
    if (child->kind == Kind::Code || child->kind == Kind::Cast) datum.code = to_code(*child);
    if (child->kind == Kind::Mask) {
      const Node& literal = *child->children.at(0);
      datum.mask = Literal{literal.place(), literal.text()};
    }
  }
  return datum;
}

std::string to_text(const Node& node) {
  std::string text;
  for (const auto& piece : node.children) text += piece->text();
  return text;
}

Expr to_expr(const Node& node) {
  Expr expr;
  expr.place = node.place();
  for (const auto& child : node.children) {
    if (child->kind == Kind::Operator) {
      expr.operators += child->text();
    } else if (child->kind == Kind::Integer) {
      const std::string_view text = child->text();
      const bool hex = text.size() > 2 && (text[1] == 'x' || text[1] == 'X');
      expr.terms.emplace_back().number = hex ? number(text.substr(2), 16) : number(text, 10);
    } else {
      expr.terms.emplace_back().datum = to_datum(*child);
    }
  }
  return expr;
}

std::vector<Item> to_items(const Node& node);

Item plain(Item::Kind kind, const Node& node) {
  Item item;
  item.kind = kind;
  item.place = node.place();
  return item;
}

Item to_quote(const Node& node) {
  Item quote = plain(Item::Kind::Quote, node);
  for (const auto& child : node.children) {
    if (child->kind == Kind::Piece) {
      if (quote.items.empty() || quote.items.back().kind != Item::Kind::Text)
        quote.items.push_back(plain(Item::Kind::Text, *child));
      quote.items.back().text += child->text();
    } else if (child->kind == Kind::Datum) {
      quote.items.push_back(plain(Item::Kind::Print, *child));
      quote.items.back().datum = std::make_unique<Datum>(to_datum(*child));
    } else {
      quote.items.push_back(
          plain(child->kind == Kind::Tab ? Item::Kind::Tab : Item::Kind::NewLine, *child));
    }
  }
  return quote;
}

Case to_case(const Node& node) {
  Case result;
  result.place = node.place();
  const Node& match = *node.children.at(0);
  result.any = match.kind == Kind::Wild;
  result.quoted = match.kind == Kind::Text;
  result.text = result.quoted ? to_text(match) : std::string(match.text());
  const Node& body = *node.children.at(1);
  if (body.kind == Kind::Block) {
    result.items = to_items(body);
  } else if (body.kind == Kind::Quote) {
    result.items.push_back(to_quote(body));
  } else {
    result.items.push_back(plain(Item::Kind::Text, body));
    result.items.back().text = to_text(body);
  }
  return result;
}

Flag to_flag(const Node& node) {
  Flag flag;
  size_t texts = 0;
  for (const auto& child : node.children) {
    if (child->kind == Kind::Mask) {
      const Node& literal = *child->children.at(0);
      flag.mask = Literal{literal.place(), literal.text()};
    } else if (child->kind == Kind::Literal) {
      flag.value = {child->place(), child->text()};
    } else if (texts++ == 0) {
      flag.when_set = to_text(*child);
    } else {
      flag.when_clear = to_text(*child);
    }
  }
  return flag;
}

Item to_choice(const Node& node) {
  Item item = plain(node.children.size() > 1 ? Item::Kind::Switch : Item::Kind::Print, node);
  item.datum = std::make_unique<Datum>(to_datum(*node.children.at(0)));
  for (size_t i = 1; i < node.children.size(); ++i)
    item.cases.push_back(to_case(*node.children[i]));
  return item;
}

Item to_assign(const Node& node) {
  Item item = plain(Item::Kind::Assign, node);
  const Node& macro = *node.children.at(0);
  item.text = macro.children.at(0)->text();
  if (const Node* expr = node.find(Kind::Expr)) item.expr = std::make_unique<Expr>(to_expr(*expr));
  return item;
}

Item to_timer(Item::Kind kind, const Node& node) {
  Item item = plain(kind, node);
  item.expr = std::make_unique<Expr>(to_expr(*node.children.at(0)));
  item.second = std::make_unique<Expr>(to_expr(*node.children.at(1)));
  return item;
}

Item to_bit_flags(const Node& node) {
  Item item = plain(Item::Kind::BitFlags, node);
  item.datum = std::make_unique<Datum>(to_datum(*node.children.at(0)));
  for (size_t i = 1; i < node.children.size(); ++i)
    item.flags.push_back(to_flag(*node.children[i]));
  return item;
}

Item to_text_item(Item::Kind kind, const Node& node, std::string text) {
  Item item = plain(kind, node);
  item.text = std::move(text);
  return item;
}

Item to_item(const Node& node) {
  switch (node.kind) {
    case Kind::Quote:
      return to_quote(node);
    case Kind::NewLine:
      return plain(Item::Kind::NewLine, node);
    case Kind::Tab:
      return plain(Item::Kind::Tab, node);
    case Kind::Choice:
      return to_choice(node);
    case Kind::Assign:
      return to_assign(node);
    case Kind::BitFlags:
      return to_bit_flags(node);
    case Kind::StartTimer:
      return to_timer(Item::Kind::StartTimer, node);
    case Kind::EndTimer:
      return to_timer(Item::Kind::EndTimer, node);
    case Kind::Word:
      return to_text_item(Item::Kind::Word, node, std::string(node.text()));
    case Kind::Move: {
      Item item = plain(Item::Kind::Move, node);
      item.move = std::make_unique<CodeText>(to_code(node));
      return item;
    }
    case Kind::Loop: {
      Item item = plain(Item::Kind::Loop, node);
      item.datum = std::make_unique<Datum>(to_datum(*node.children.at(0)));
      item.items = to_items(*node.children.at(1));
      return item;
    }
    default:
      return to_text_item(Item::Kind::Text, node, to_text(node));
  }
}

std::vector<Item> to_items(const Node& node) {
  std::vector<Item> items;
  items.reserve(node.children.size());
  for (const auto& child : node.children) items.push_back(to_item(*child));
  return items;
}

TemplateText to_template(const Node& root) {
  TemplateText result;
  for (const auto& child : root.children) {
    if (child->kind == Kind::HookId) {
      result.place = child->place();
      result.hook = child->text();
    } else if (child->kind == Kind::Version) {
      std::string_view text = child->text();
      result.version_major = number(take_until(text, '.'), 10);
      result.version_minor = number(text, 10);
    } else if (child->kind == Kind::Level) {
      result.level_place = child->place();
      result.level = child->text();
    } else if (child->kind == Kind::Label) {
      result.label_place = child->place();
      result.label = to_text(*child);
    } else if (child->kind == Kind::End) {
      result.end = child->place();
    } else {
      result.items.push_back(to_item(*child));
    }
  }
  return result;
}

/// What may be meant by what cannot stand where an item is expected.
std::string_view hint(std::string_view rest) {
  if (rest[0] == ',')
    return " (a comma stands behind a datum to make it a switch, and between cases)";
  if (rest[0] == '{')
    return " (a case outside of a switch: does the case before it lack its comma, or the switch "
           "its datum?)";
  if (rest.starts_with("\\*"))
    return " (a case outside of a switch: does the case before it lack its comma?)";
  if (rest[0] == '&') return " (a mask stands behind a datum, or in BITFLAGS)";
  if (rest[0] == '\\') return " (it ends a line, or begins \\n, \\t or \\*)";
  return {};
}

/// What is there instead of what was expected.
std::string found(std::string_view expected, std::string_view rest) {
  if (rest.empty()) return "the end of the file";
  if (rest[0] == '\n' || rest.starts_with("\r\n")) return "the end of the template";
  const size_t end = rest.find_first_of(" \t\r\n,{}\"`\\", 1);
  const size_t size = rest.starts_with("}}") || rest.starts_with("\\*") ? 2 : end;
  return fmt::format("\"{}\"{}", printable(rest.substr(0, std::min<size_t>(size, 20))),
                     expected.starts_with("an item") ? hint(rest) : std::string_view());
}

void report_error(const pegtl::parse_error& error, std::string_view text,
                  Diagnostics& diagnostics) {
  const pegtl::position& at = error.positions().front();
  const Place place{static_cast<uint32_t>(at.line), static_cast<uint32_t>(at.column)};
  const std::string_view expected = error.message();
  if (expected.starts_with("maximum parser")) {
    diagnostics.error(place, "depth", fmt::format("blocks nest deeper than {}", rules::kBlocksMax));
    return;
  }
  diagnostics.error(
      place, "syntax",
      fmt::format("expected {}, found {}", expected, found(expected, text.substr(at.byte))));
}

/// Is it text of one byte a character, or of UTF-8?
bool is_readable(std::string_view text, Diagnostics& diagnostics) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    diagnostics.error({1, 1}, "encoding",
                      "the file is in UTF-16, and templates are read as ASCII or UTF-8: save it so "
                      "(iconv -f UTF-16 -t UTF-8)");
    return false;
  }
  return true;
}

/// Is the template that begins there one to be read? Otherwise it is behind it then.
bool is_small(Input& in, Diagnostics& diagnostics) {
  const auto begin = in.iterator();
  // Few are as long as the rest of a file.
  if (in.size() <= kTemplateMax) return true;
  pegtl::parse<rules::Skip>(in);
  const auto bytes = static_cast<size_t>(in.current() - begin.data);
  if (bytes <= kTemplateMax) {
    in.iterator() = begin;
    return true;
  }
  diagnostics.error({static_cast<uint32_t>(begin.line), static_cast<uint32_t>(begin.column)},
                    "size",
                    fmt::format("the template has {} bytes, at most {}", bytes, kTemplateMax));
  return false;
}

void warn_of_slips(const Slips& slips, Diagnostics& diagnostics) {
  for (const auto& [line, place] : slips.blanks)
    diagnostics.warning(place, "blanks-behind-backslash",
                        "blanks behind the backslash; the line is continued all the same");
  for (const auto& [line, place] : slips.backslash)
    diagnostics.warning(place, "missing-backslash",
                        "the next line begins with a mask, so this one is continued; it lacks "
                        "its backslash");
  for (const auto& [line, place] : slips.escapes)
    diagnostics.warning(place, "backslash-in-string",
                        "this backslash is printed: strings are printed as they stand, and end at "
                        "the next quote; \\n (a new line) and \\t (a tab) belong outside of them");
}

}  // namespace

void parse_templates(std::string_view text, Diagnostics& diagnostics,
                     const std::function<void(const TemplateText&)>& take) {
  if (!is_readable(text, diagnostics)) return;
  Input in(text.data(), text.data() + text.size(), "");
  while (!in.empty()) {
    if (pegtl::parse<rules::Between>(in)) continue;
    const auto begin = in.iterator();
    if (!is_small(in, diagnostics)) continue;
    Slips slips;
    try {
      const auto root =
          pegtl::parse_tree::parse<rules::Template, Node, Kept, Action, Control>(in, slips);
      if (root) take(to_template(*root));
    } catch (const pegtl::parse_error& error) {
      report_error(error, text, diagnostics);
      in.iterator() = begin;
      pegtl::parse<rules::Skip>(in);
    }
    warn_of_slips(slips, diagnostics);
  }
}

}  // namespace tracewell::report
