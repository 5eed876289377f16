// The grammar of template files, as PEGTL rules. Included by grammar.cc alone.
#pragma once

#include "report/compile/grammar_tokens.h"

namespace tracewell::report::rules {

// Inside backquotes only what is sure to be no text counts: a word is taken as a whole.
struct QuoteMacroDatum : seq<Macro, opt<one<'%'>, KnownCast>> {};
struct QuoteDatum : seq<sor<seq<at<one<'$'>, NameChar>, QuoteMacroDatum>, Code>> {
  static constexpr Kind kind = Kind::Datum;
};
struct QuoteWord : plus<NameChar> {
  static constexpr Kind kind = Kind::Piece;
};
struct QuoteChar : not_one<'`', '\n'> {
  static constexpr Kind kind = Kind::Piece;
};
struct QuoteEnd : one<'`'> {
  static constexpr const char* expected = "the closing `";
};
struct Quote
    : seq<one<'`'>, star<sor<TextContinued, NewLine, Tab, QuoteDatum, QuoteWord, QuoteChar>>,
          must<QuoteEnd>, Ws> {
  static constexpr Kind kind = Kind::Quote;
};

// Blocks and what holds them.
struct Item;
struct BlockEnd : one<'}'> {
  static constexpr const char* expected = "an item, or the missing }";
};
struct Block : seq<Token<one<'{'>>, star<Item>, must<BlockEnd>, Ws> {
  static constexpr Kind kind = Kind::Block;
};
struct Comma : Token<one<','>> {
  static constexpr const char* expected = "a comma";
};
struct Wild : string<'\\', '*'> {
  static constexpr Kind kind = Kind::Wild;
};
struct CaseBody : sor<Text, Quote, Block> {
  static constexpr const char* expected = "what the case does: a string or {";
};
struct Case : seq<sor<seq<Wild, Ws>, Text, seq<Literal, Ws>>, must<CaseBody>> {
  static constexpr Kind kind = Kind::Case;
  static constexpr const char* expected = "a case: a number, a string or \\*";
};
struct CasesEnd : at<sor<one<'}'>, eolf>> {};
struct MoreCases : star<Comma, sor<CasesEnd, must<Case>>> {};
struct Choice : seq<Datum, opt<Comma, must<Case>, MoreCases>> {
  static constexpr Kind kind = Kind::Choice;
};
struct LoopBlock : Block {
  static constexpr Kind kind = Kind::Block;
  static constexpr const char* expected = "the block that LOOP needs: {";
};
struct Loop : seq<Keyword<'L', 'O', 'O', 'P'>, must<Datum>, must<LoopBlock>> {
  static constexpr Kind kind = Kind::Loop;
};

// BITFLAGS: without a comma before it, a flag begins with `&`, a digit, or `o` and two digits;
// else it could be the code of an item behind the list.
struct FlagText : Text {
  static constexpr Kind kind = Kind::Text;
  static constexpr const char* expected = "the flag's string";
};
struct Flag : seq<opt<Mask>, seq<Literal, Ws>, must<FlagText>, opt<Text>> {
  static constexpr Kind kind = Kind::Flag;
  static constexpr const char* expected = "a flag: a number, or & and a mask, and a string";
};
struct PlainFlagStart : at<sor<one<'&'>, digit, seq<one<'o'>, digit, digit>>> {};
struct MoreFlags : star<sor<seq<Comma, opt<Flag>>, seq<PlainFlagStart, must<Flag>>>> {};
struct BitFlags : seq<Keyword<'B', 'I', 'T', 'F', 'L', 'A', 'G', 'S'>, must<Datum>, must<Comma>,
                      must<Flag>, MoreFlags> {
  static constexpr Kind kind = Kind::BitFlags;
};

// Expressions.
struct Term : sor<seq<Integer, Ws>, Datum> {
  static constexpr const char* expected = "a number, a $macro or a data code";
};
struct Operator : one<'+', '-', '*', '/'> {
  static constexpr Kind kind = Kind::Operator;
};
struct Expr : seq<Term, star<Operator, Ws, must<Term>>> {
  static constexpr Kind kind = Kind::Expr;
  static constexpr const char* expected = "a number, a $macro or a data code";
};
struct AssignName : Macro {
  static constexpr Kind kind = Kind::Macro;
  static constexpr const char* expected = "the $name that the assignment needs";
};
struct AssignEnd : string<'}', '}'> {
  static constexpr const char* expected = "an operator, or the missing }}";
};
struct Assign : seq<Token<string<'{', '{'>>, must<AssignName>, Ws, opt<Token<one<'='>>, must<Expr>>,
                    must<AssignEnd>, Ws> {
  static constexpr Kind kind = Kind::Assign;
};
struct TimerOpen : Token<one<'('>> {
  static constexpr const char* expected = "( and the timer's two ids";
};
struct TimerComma : Comma {
  static constexpr const char* expected = "a comma: the timer needs two ids";
};
struct TimerClose : Token<one<')'>> {
  static constexpr const char* expected = "an operator, or ) behind the timer's two ids";
};
struct TimerIds : seq<must<TimerOpen>, must<Expr>, must<TimerComma>, must<Expr>, must<TimerClose>> {
};
struct StartTimer : seq<Token<seq<TAO_PEGTL_STRING("starttimer"), WordEnd>>, TimerIds> {
  static constexpr Kind kind = Kind::StartTimer;
};
struct EndTimer : seq<Token<seq<TAO_PEGTL_STRING("endtimer"), WordEnd>>, TimerIds> {
  static constexpr Kind kind = Kind::EndTimer;
};

// Moves. `O` moves, `o` is octal.
struct Move : seq<sor<seq<one<'G', 'O'>, BytesBits>, seq<one<'R', 'W'>, Digits>>, WordEnd,
                  not_at<DotDigits>> {
  static constexpr Kind kind = Kind::Move;
};
struct Word
    : seq<not_at<one<'&'>>,
          plus<not_one<' ', '\t', '\r', '\v', '\f', '\n', '"', '`', '{', '}', ',', '\\', '$'>>> {
  static constexpr Kind kind = Kind::Word;
};
struct Item : sor<Text, Quote, seq<NewLine, Ws>, seq<Tab, Ws>, Assign, StartTimer, EndTimer, Loop,
                  BitFlags, Choice, seq<Move, Ws>, seq<Word, Ws>> {};

// A template.
struct HookId : Whole<seq<rep_min_max<3, 4, xdigit>, WordEnd>> {
  static constexpr Kind kind = Kind::HookId;
  static constexpr const char* expected = "a hook id of 3 or 4 hex digits";
};
struct VersionEnd : at<sor<BlankChar, one<'\\', '"', '`'>, eolf>> {};
struct Version : Whole<seq<Digits, one<'.'>, Digits, VersionEnd>> {
  static constexpr Kind kind = Kind::Version;
  static constexpr const char* expected = "a version such as 1.0";
};
struct Level : seq<plus<NameChar>> {
  static constexpr Kind kind = Kind::Level;
  static constexpr const char* expected = "a level: APPL, SVC, KERN or INT";
};
struct LevelPart : seq<string<'L', '='>, must<Level>, Ws> {};
struct End : eolf {
  static constexpr Kind kind = Kind::End;
  static constexpr const char* expected = "an item or the end of the template";
};
struct Template : seq<Ws, must<HookId>, Ws, must<Version>, Ws, opt<LevelPart>, must<Label>,
                      star<Item>, must<End>> {};

/// Lines between templates; fails where one begins.
struct Between : sor<seq<star<BlankChar>, eol>, CommentLine, seq<plus<BlankChar>, eof>> {};
/// To the end of a template that cannot be read.
struct Skip : seq<star<sor<seq<one<'\\'>, star<BlankChar>, eol, star<CommentLine>>,
                           MissingBackslash, seq<not_at<eol>, any>>>,
                  eolf> {};

}  // namespace tracewell::report::rules
