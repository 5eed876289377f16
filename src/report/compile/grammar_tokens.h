// Blanks, numbers, codes, data and strings: the lower half of grammar_rules.h.
//
// A rule with a `kind` becomes a node of the parse tree; one with an `expected` says what is
// missing when a must<> fails on it. A token takes the blanks behind it, so that an error stands at
// the next token. Nothing here looks ahead without bound: behind its first token each item is
// decided.
#pragma once

#include <cstdint>

#include <tao/pegtl.hpp>

namespace tracewell::report::rules {

using namespace tao::pegtl;

enum class Kind : uint8_t {
  HookId,
  Version,
  Level,
  Label,
  End,
  Text,
  Piece,
  Quote,
  NewLine,
  Tab,
  Move,
  Print,
  Choice,
  Loop,
  BitFlags,
  Assign,
  StartTimer,
  EndTimer,
  Word,
  Code,
  Macro,
  Cast,
  Datum,
  Literal,
  Wild,
  Case,
  Block,
  Flag,
  Mask,
  Expr,
  Integer,
  Operator,
  Name,
};

inline constexpr unsigned kBlocksMax = 32;  // one inside the other

// What stands between tokens.
struct BlankChar : one<' ', '\t', '\r', '\v', '\f'> {};
struct NameChar : sor<alnum, one<'_'>> {};
struct WordEnd : not_at<NameChar> {};
struct CommentLine : seq<one<'#'>, until<eolf>> {};
/// A backslash at the end of a line. Blanks behind it are a slip that a warning tells.
struct SlipBlanks : plus<BlankChar> {};
struct Continued : seq<one<'\\'>, sor<eolf, seq<SlipBlanks, eolf>>, star<CommentLine>> {};
/// A mask at the beginning of a line cannot begin a template: the backslash before it is missing.
struct MissingBackslash : seq<eol, star<BlankChar>, at<one<'&'>>> {};
struct Ws : star<sor<BlankChar, Continued, MissingBackslash>> {};

template <class Rule>
struct Token : seq<Rule, Ws> {};
/// What is wrong with it, is wrong at its beginning.
template <class Rule>
struct Whole : seq<at<Rule>, Rule> {};
template <char... Letters>
struct Keyword : seq<string<Letters...>, WordEnd, Ws> {};

// Numbers and names.
struct Digits : plus<digit> {};
struct DotDigits : seq<one<'.'>, Digits> {};
struct Name : plus<NameChar> {
  static constexpr Kind kind = Kind::Name;
  static constexpr const char* expected = "a macro's name behind the $";
};
struct HexInteger : seq<one<'0'>, one<'x', 'X'>, plus<xdigit>> {};
struct Integer : seq<sor<HexInteger, Digits>, WordEnd> {
  static constexpr Kind kind = Kind::Integer;
};
struct Literal
    : plus<not_one<' ', '\t', '\r', '\v', '\f', '\n', '"', '`', '{', '}', ',', '\\', '$', '&'>> {
  static constexpr Kind kind = Kind::Literal;
  static constexpr const char* expected = "a number";
};

// Codes: one alternative a line of codes.def.
using Bare = success;
using Bytes = Digits;
struct BytesBits : seq<Digits, opt<DotDigits>> {};
using CastNo = failure;
using CastYes = success;
using CastOnly = success;
using DatumNo = success;
using DatumYes = success;
using DatumOnly = failure;
struct DatumCode : sor<
#define CODE(name, shape, cast, widths, base, reads, prints) \
  seq<Datum##cast, TAO_PEGTL_STRING(#name), shape, WordEnd>,
#include "report/codes.def"
                       failure> {
};
struct CastCode : sor<
#define CODE(name, shape, cast, widths, base, reads, prints) \
  seq<Cast##cast, TAO_PEGTL_STRING(#name), shape, WordEnd>,
#include "report/codes.def"
                      failure> {
};
struct Code : DatumCode {
  static constexpr Kind kind = Kind::Code;
};
struct NoBits : not_at<DotDigits> {
  static constexpr const char* expected = "a blank: only A and B have a number behind a dot";
};
/// Whatever looks like a code: one that is not understood prints the macro as if it had no cast.
struct AnyCast : seq<plus<alpha>, star<digit>, opt<DotDigits>, WordEnd> {
  static constexpr Kind kind = Kind::Cast;
  static constexpr const char* expected = "a code behind the %";
};
struct KnownCast : CastCode {
  static constexpr Kind kind = Kind::Cast;
};

// Datum.
struct Macro : seq<one<'$'>, must<Name>> {
  static constexpr Kind kind = Kind::Macro;
};
struct Percent : Token<one<'%'>> {};
struct MacroDatum : seq<Macro, Ws, opt<Percent, must<AnyCast>, Ws>> {};
struct CodeDatum : seq<Code, must<NoBits>, Ws> {};
struct Mask : seq<Token<one<'&'>>, must<Literal>, Ws> {
  static constexpr Kind kind = Kind::Mask;
};
struct Datum : seq<sor<MacroDatum, CodeDatum>, opt<Mask>> {
  static constexpr Kind kind = Kind::Datum;
  static constexpr const char* expected = "a data code or a $macro";
};

// Texts.
struct TextContinued : seq<one<'\\'>, sor<eol, seq<SlipBlanks, eol>>> {};
/// It would be another character in C, and prints as it stands here.
struct TextEscape : seq<one<'\\'>, sor<one<'n', 't'>, at<one<'"'>>>> {};
struct TextPiece : plus<sor<TextEscape, seq<not_at<TextContinued>, not_one<'"', '\n'>>>> {
  static constexpr Kind kind = Kind::Piece;
};
struct TextEnd : one<'"'> {
  static constexpr const char* expected = "the closing \" of this string";
};
struct Text : seq<one<'"'>, star<sor<TextContinued, TextPiece>>, must<TextEnd>, Ws> {
  static constexpr Kind kind = Kind::Text;
  static constexpr const char* expected = "a string";
};
struct Label : Text {
  static constexpr Kind kind = Kind::Label;
  static constexpr const char* expected = "a label in quotes";
};
struct NewLine : string<'\\', 'n'> {
  static constexpr Kind kind = Kind::NewLine;
};
struct Tab : string<'\\', 't'> {
  static constexpr Kind kind = Kind::Tab;
};

}  // namespace tracewell::report::rules
