// A template as it was written: what the grammar makes, and the compiler reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/diagnostic.h"

namespace tracewell::report {

/// `X4`, `A10.16`, `HT`; as a datum, behind a `%`, or a move.
struct CodeText {
  Place place;
  std::string letters;
  std::optional<uint64_t> bytes;  // what stands before the dot
  std::optional<uint64_t> bits;   // and behind it
};

/// A number as it was written: a case's, a flag's, a mask's. Its base depends on what it is for.
struct Literal {
  Place place;
  std::string text;
};

/// A code, or a macro with or without a cast; either with or without a mask.
struct Datum {
  Place place;
  std::string macro;  // without the $; empty = a code
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
  CodeText move;               // Move
  Datum datum;                 // Print, Switch, Loop, BitFlags
  std::vector<Item> items;     // Quote, Loop
  std::vector<Case> cases;     // Switch, at least one
  std::vector<Flag> flags;     // BitFlags, at least one
  std::optional<Expr> expr;    // Assign (none = a declaration), timers
  std::optional<Expr> second;  // timers
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

/// Parses a file of templates. One that cannot be parsed is reported and left out.
std::vector<TemplateText> parse_templates(std::string_view text, Diagnostics& diagnostics);

}  // namespace tracewell::report
