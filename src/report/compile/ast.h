// A template as it was written: what the grammar makes, and the compiler reads. There is an item
// for each few bytes of it, so an item is small: words are those of the text, and what few kinds
// have stands apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/compile/diagnostic.h"

namespace tracewell::report {

/// `X4`, `A10.16`, `HT`; as a datum, behind a `%`, or a move.
struct CodeText {
  Place place;
  std::string_view letters;
  std::optional<uint64_t> bytes;  // what stands before the dot
  std::optional<uint64_t> bits;   // and behind it
};

/// A number as it was written: a case's, a flag's, a mask's. Its base depends on what it is for.
struct Literal {
  Place place;
  std::string_view text;
};

/// A code, or a macro with or without a cast; either with or without a mask.
struct Datum {
  Place place;
  std::string_view macro;  // without the $; empty = a code
  std::optional<CodeText> code;
  std::optional<Literal> mask;
};

struct Term {
  std::optional<uint64_t> number;
  Datum datum;  // when it is no number
};

/// terms[0] operators[0] terms[1] …, as written.
struct Expr {
  Place place;
  std::vector<Term> terms;
  std::string operators;  // of "+-*/"
};

struct Item;

struct Case {
  Place place;
  bool any = false;     // \*
  bool quoted = false;  // a string, not a number
  std::string text;
  std::vector<Item> items;
};

struct Flag {
  std::optional<Literal> mask;
  Literal value;
  std::string when_set;
  std::optional<std::string> when_clear;
};

struct Item {
  enum class Kind : uint8_t {
    Text,
    Quote,
    NewLine,
    Tab,
    Move,
    Print,
    Switch,
    Loop,
    BitFlags,
    Assign,
    StartTimer,
    EndTimer,
    Word,
  };
  Kind kind = Kind::Text;
  Place place;
  std::string text;            // Text, Word; Assign: the macro's name without the $
  std::unique_ptr<CodeText> move;  // Move
  std::unique_ptr<Datum> datum;    // Print, Switch, Loop, BitFlags
  std::vector<Item> items;     // Quote, Loop
  std::vector<Case> cases;     // Switch, at least one
  std::vector<Flag> flags;     // BitFlags, at least one
  std::unique_ptr<Expr> expr;    // Assign (none = a declaration), timers
  std::unique_ptr<Expr> second;  // timers
};

struct TemplateText {
  Place place;
  std::string hook;  // 3 or 4 hex digits
  uint64_t version_major = 0, version_minor = 0;
  Place level_place;
  std::string level;  // "" = not given
  Place label_place;
  std::string label;
  std::vector<Item> items;
  Place end;
};

/// Of a template, in bytes.
inline constexpr size_t kTemplateMax = size_t{1} << 20;

/// Parses a file of templates and hands out one after the other; they borrow the text. One that
/// cannot be parsed, or is longer than kTemplateMax, is reported and left out.
void parse_templates(std::string_view text, Diagnostics& diagnostics,
                     const std::function<void(const TemplateText&)>& take);

}  // namespace tracewell::report
