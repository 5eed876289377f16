// `--where EXPR`: a question to ask of each event.
//   expression = and { "||" and }        and = not { "&&" not }
//   not        = "!" not | "(" expression ")" | operand [ comparison operand ]
//   comparison = "==" "!=" "<" "<=" ">" ">="
//   operand    = number (decimal, 0x…, either with a minus) | "text" | 'text' | field | $register
//   field      = seq tid cpu time_ns tracepoint pc kind id subhook
// What an event does not have (a frame's pc that is not known, the tracepoint of a step) makes
// every comparison with it false. A step has the registers that it told: as they are after it if it
// changed them, else as they were before. A lone operand asks whether it is there and not zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/event.h"

namespace tracewell::filter {

class Expression {
 public:
  /// InvalidArgument, with the place in the text, when it is not an expression, or names a register
  /// that `catalog` has not.
  static Result<Expression> parse(std::string_view text, const Catalog& catalog);

  bool matches(const Event& event) const;

 private:
  friend class ExpressionParser;
  enum class Op : uint8_t {
    Or,
    And,
    Not,
    Exists,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual
  };
  enum class Field : uint8_t { Seq, Tid, Cpu, TimeNs, Tracepoint, Pc, Kind, Id, Subhook };
  struct Operand {
    enum class Kind : uint8_t { Number, Text, Field, Register };
    Kind kind = Kind::Number;
    uint64_t number = 0;  // two's complement when negative
    bool negative = false;
    std::string text;
    Field field = Field::Seq;
    uint32_t index = 0;  // of a register in the layout
  };
  struct Node {
    Op op = Op::Exists;
    uint32_t left = 0, right = 0;  // nodes for Or, And, Not; else operands
  };
  /// What an operand has come to.
  struct Value {
    bool there = false;
    bool is_text = false;
    bool negative = false;
    uint64_t number = 0;
    std::string_view text;
  };
  bool holds(uint32_t node, const Event& event) const;
  Value value_of(const Operand& operand, const Event& event) const;
  Value register_value(uint32_t index, const Event& event) const;
  static Value field_value(Field field, const Event& event);
  static bool compare(Op op, const Value& left, const Value& right);

  std::vector<Node> nodes_;
  std::vector<Operand> operands_;
  uint32_t root_ = 0;
  RegisterLayout registers_;
  Endian endian_ = Endian::Little;
};

}  // namespace tracewell::filter
