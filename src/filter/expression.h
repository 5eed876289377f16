// `--where EXPR`: a question to ask of each event.
//   expression = and { "||" and }        and = not { "&&" not }
//   not        = "!" not | "(" expression ")" | operand [ comparison ]
//   comparison = ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) operand | "=~" text | "in" range
//   operand    = number (decimal, 0x…, either with a minus) | "text" | 'text' | field
//                | "$" register [ ".before" ] | register [ ".before" ] | access [ "[" range "]" ]
//   field      = step seq tid pid process cpu time_ns tracepoint pc kind id subhook
//                mnemonic disassembly module symbol text                    (step is seq)
//   access     = read write access
//   range      = number [ ".." number | "," number ]     (last one included; or so many)
// What an event does not have (a frame's pc that is not known, the tracepoint of a step) makes
// every comparison with it false. A lone operand asks whether it is there and not zero.
//
// A step has the registers of its thread, whoever told them: $rax as it is after the step,
// $rax.before as it was before; parts of x86 registers ($eax, $al) have their usual names. An
// access is all that the step reads, writes or either, or those that touch a byte of the range:
// alone it asks whether there are any; a comparison holds if it holds for one of their values, as
// numbers of up to eight bytes (what was read, and what was written). "=~" searches for a pattern,
// an extended regular expression of POSIX; A and a are one letter. A mnemonic is all names of the
// instruction: je and jz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filter/answer_cache.h"
#include "filter/pattern.h"
#include "filter/search_budget.h"
#include "machine/control_flow.h"
#include "model/catalog.h"
#include "model/event.h"
#include "model/process_table.h"

namespace tracewell::filter {

/// What `module` and `symbol` mean at an address; "" = nothing is known.
struct AddressWords {
  std::function<std::string(uint64_t)> module, symbol;
};

/// What the calling thread has had of a processor.
int64_t thread_processor_ns();

/// For whoever waits for answers. All but the clock may be empty.
struct SearchWatch {
  /// Asked before each search: true = nobody waits any more. Answers then mean nothing.
  std::function<bool()> stop;
  /// Of a text of `bytes` only the first `searched` were searched.
  std::function<void(size_t bytes, size_t searched)> cut;
  /// The same, of what an address is called: these searches have a budget together.
  std::function<void(size_t bytes, size_t searched)> spent = {};
  std::function<int64_t()> processor_ns = thread_processor_ns;  // that budget's clock
  /// A step does not tell what it left in a register, though its thread's next one may.
  std::function<void()> untold = {};
};

/// Used by one thread at a time.
class Expression {
 public:
  /// InvalidArgument, with the place in the text, when it is not an expression, or names a register
  /// that `catalog` has not. Without `words`, modules are the catalog's, and nothing is a symbol.
  static Result<Expression> parse(std::string_view text, const Catalog& catalog,
                                  AddressWords words = {});
  void watch(SearchWatch watch) { watch_ = std::move(watch); }
  /// Shown each event that goes by, in order, also those that are not asked of: who its process is.
  void learn(const Event& event) {
    if (asks_pids_) processes_.learn(event);
  }
  /// `before`: the registers of the step's thread, with what it tells in Step::before; nullptr:
  /// those that it tells are all.
  bool matches(const Event& event, const RegisterState* before = nullptr) const;
  /// It holds for nothing but steps and frames at these places; nullopt: for more, or nobody knows.
  struct Places {
    uint64_t first = 0, last = 0;  // inclusive
  };
  std::optional<std::vector<Places>> places() const;
  /// Does it ask for registers, or for this word, such as "module"?
  bool names_registers() const;
  bool names(std::string_view word) const;
  /// A number as it stands in the text, of those that are compared with what is mostly written in
  /// hexadecimal: places, contents, ids of hooks.
  struct Spelled {
    std::string text;
    uint64_t number = 0;
    bool hook = false;  // compared with `id`
  };
  std::vector<Spelled> spelled_numbers() const;
  std::vector<std::string> wanted_symbols() const;  // texts that `symbol` is to be equal to
  /// How many instructions were decoded so far to get words of them.
  uint64_t decoded() const { return decoded_; }

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
    GreaterEqual,
    Like,  // a pattern
    In,    // a range
  };
  enum class Field : uint8_t {
    Seq, Tid, Pid, Process, Cpu, TimeNs, Tracepoint, Pc,
    Kind, Id, Subhook, Mnemonic, Disassembly, Module, Symbol, Text,
  };
  struct Operand {
    enum class Kind : uint8_t { Number, Text, Field, Register, Access, Range, Pattern };
    Kind kind = Kind::Number;
    uint64_t number = 0;  // two's complement when negative; the low end of a range
    uint64_t last = UINT64_MAX;  // of a range: the high end
    bool negative = false;
    std::string text;  // of a number or a range: the (first) number as it was written
    Field field = Field::Seq;
    uint32_t index = 0;       // of a register in the layout
    uint32_t first_byte = 0;  // of a part of a register, from the least significant one
    uint32_t bytes = 0;       // 0 = all
    bool before = false;      // of a register
    bool reads = false, writes = false;  // of an access
    std::shared_ptr<const Pattern> pattern;
  };
  struct Node {
    Op op = Op::Exists;
    uint32_t left = 0, right = 0;  // nodes for Or, And, Not; else operands
    bool by_instruction = false;   // no other word than mnemonic and disassembly is in it
    bool by_place = false;         // nor does that tell without the address
    bool by_address = false;       // no other word than module and symbol is in it
  };
  /// What an operand has come to.
  struct Value {
    bool there = false;
    bool is_text = false;
    bool negative = false;
    uint64_t number = 0;
    std::string text;
  };
  /// An event, and what is known around it.
  struct Asked {
    const Event& event;
    const RegisterState* before = nullptr;
  };
  static bool is_mnemonic(const Operand& one);
  static bool holds_text(const Operand& one);
  static bool is_disassembly(const Operand& one);
  static bool is_address_word(const Operand& one);
  /// Sets by_instruction, by_place and by_address.
  void classify(Node& node) const;
  std::optional<std::vector<Places>> places_of(uint32_t node) const;
  bool holds(uint32_t node, const Asked& asked) const;
  bool comparison_holds(const Node& node, const Asked& asked) const;
  /// The same, asked once of each instruction. `question`: the number of the node.
  bool remembered(uint32_t question, const Asked& asked) const;
  /// The same, asked once of each address.
  bool remembered_at(uint32_t question, const Asked& asked) const;
  bool exists(const Operand& operand, const Asked& asked) const;
  bool compares(const Node& node, const Asked& asked) const;
  /// Until `holds(value)` is true of one.
  template <class Holds>
  bool any(const Operand& operand, const Asked& asked, Holds&& holds) const;
  Value register_value(const Operand& operand, const Asked& asked) const;
  Value field_value(Field field, const Event& event) const;
  Value place_value(Field field, const Event& event) const;
  bool compare(Op op, const Value& left, const Value& right) const;
  bool is_found(const Pattern& pattern, std::string_view text, bool of_address) const;

  std::vector<Node> nodes_;
  std::vector<Operand> operands_;
  uint32_t root_ = 0;
  RegisterLayout registers_;
  std::vector<Module> modules_;
  Endian endian_ = Endian::Little;
  ProcessTable processes_;  // empty unless pids are asked for
  bool asks_pids_ = false;
  AddressWords words_;
  SearchWatch watch_;
  std::shared_ptr<const machine::FlowDecoder> decoder_;
  mutable AnswerCache answers_;
  mutable uint64_t decoded_ = 0;
  mutable SearchBudget budget_;
};

}  // namespace tracewell::filter
