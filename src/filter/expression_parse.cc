#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"
#include "filter/expression.h"
#include "machine/usage.h"

namespace tracewell::filter {
namespace {
constexpr int kDepthMax = 100;
constexpr size_t kTextMax = 16384;  // a chain of || costs stack when it is asked
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
}  // namespace

/// Recursive descent, one function a rule.
class ExpressionParser {
 public:
  using Field = Expression::Field;
  static constexpr std::pair<std::string_view, Field> kFields[] = {
      {"step", Field::Seq},          {"seq", Field::Seq},
      {"tid", Field::Tid},           {"pid", Field::Pid},
      {"process", Field::Process},
      {"cpu", Field::Cpu},           {"time_ns", Field::TimeNs},
      {"tracepoint", Field::Tracepoint}, {"pc", Field::Pc},
      {"kind", Field::Kind},         {"id", Field::Id},
      {"subhook", Field::Subhook},   {"mnemonic", Field::Mnemonic},
      {"disassembly", Field::Disassembly}, {"module", Field::Module},
      {"symbol", Field::Symbol},     {"text", Field::Text}};

  ExpressionParser(std::string_view text, Expression& out) : text_(text), out_(out) {}

  Status parse() {
    TW_ASSIGN_OR_RETURN(out_.root_, parse_or());
    skip_blanks();
    if (at_ != text_.size()) return wrong("expected &&, || or the end");
    for (Expression::Node& node : out_.nodes_) out_.classify(node);
    return {};
  }

 private:
  using Op = Expression::Op;
  using Operand = Expression::Operand;

  Error wrong(std::string_view what) const {
    return Error{Errc::InvalidArgument,
                 fmt::format("in the expression, at character {} (\"{}\"): {}", at_ + 1,
                             printable(text_.substr(at_, 12)), what),
                 {}};
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  uint32_t add(Op op, uint32_t left, uint32_t right) {
    out_.nodes_.push_back({op, left, right});
    return static_cast<uint32_t>(out_.nodes_.size() - 1);
  }

  Result<uint32_t> parse_or() {
    TW_ASSIGN_OR_RETURN(uint32_t left, parse_and());
    while (take("||")) {
      TW_ASSIGN_OR_RETURN(const uint32_t right, parse_and());
      left = add(Op::Or, left, right);
    }
    return left;
  }

  Result<uint32_t> parse_and() {
    TW_ASSIGN_OR_RETURN(uint32_t left, parse_not());
    while (take("&&")) {
      TW_ASSIGN_OR_RETURN(const uint32_t right, parse_not());
      left = add(Op::And, left, right);
    }
    return left;
  }

  Result<uint32_t> parse_not() {
    if (++depth_ > kDepthMax) return wrong("it nests too deep");
    auto node = parse_inner();
    --depth_;
    return node;
  }

  Result<uint32_t> parse_inner() {
    if (take("(")) {
      TW_ASSIGN_OR_RETURN(const uint32_t inner, parse_or());
      return take(")") ? Result<uint32_t>(inner) : wrong("a closing parenthesis is missing");
    }
    if (!text_.substr(at_).starts_with("!=") && take("!")) {
      TW_ASSIGN_OR_RETURN(const uint32_t inner, parse_not());
      return add(Op::Not, inner, 0);
    }
    return parse_comparison();
  }

  Result<uint32_t> parse_comparison() {
    constexpr std::pair<std::string_view, Op> kOps[] = {
        {"==", Op::Equal},        {"!=", Op::NotEqual}, {"=~", Op::Like}, {"<=", Op::LessEqual},
        {">=", Op::GreaterEqual}, {"<", Op::Less},      {">", Op::Greater}};
    skip_blanks();
    const size_t at = at_;
    TW_ASSIGN_OR_RETURN(const uint32_t left, parse_operand());
    for (const auto& [token, op] : kOps) {
      if (!take(token)) continue;
      if (op == Op::Like) return parse_like(left, at);
      TW_ASSIGN_OR_RETURN(const uint32_t right, parse_operand());
      if (is_text(left) == is_text(right)) return add(op, left, right);
      at_ = at;
      return wrong("a number is compared with a text, which is never true");
    }
    if (take("=")) {
      --at_;
      return wrong("two values are compared by ==");
    }
    skip_blanks();
    if (word_at(at_) != "in") return add(Op::Exists, left, 0);
    if (is_text(left)) {
      at_ = at;
      return wrong("this is a text, and numbers alone are in a range");
    }
    at_ += 2;
    Operand range;
    range.kind = Operand::Kind::Range;
    TW_RETURN_IF_ERROR(parse_range(range));
    return add(Op::In, left, put(std::move(range)));
  }

  Result<uint32_t> parse_like(uint32_t left, size_t at) {
    if (!is_text(left)) {
      at_ = at;
      return wrong("this is a number, and patterns are found in texts alone");
    }
    TW_ASSIGN_OR_RETURN(const uint32_t right, parse_pattern());
    return add(Op::Like, left, right);
  }

  bool is_text(uint32_t operand) const {
    return Expression::holds_text(out_.operands_[operand]);
  }

  uint32_t put(Operand operand) {
    out_.operands_.push_back(std::move(operand));
    return static_cast<uint32_t>(out_.operands_.size() - 1);
  }

  Result<uint32_t> parse_pattern() {
    skip_blanks();
    Operand operand;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c != '"' && c != '\'') return wrong("a pattern stands in quotes");
    const size_t at = at_;
    TW_RETURN_IF_ERROR(parse_text(c, operand));
    auto pattern = Pattern::compile(operand.text);
    if (!pattern) {
      at_ = at;
      return wrong(pattern.error().message);
    }
    operand.kind = Operand::Kind::Pattern;
    operand.pattern = std::make_shared<const Pattern>(*std::move(pattern));
    return put(std::move(operand));
  }

  Result<uint64_t> parse_whole_number() {
    skip_blanks();
    const std::string_view digits = word_at(at_);
    const auto number = parse_number(digits);
    if (!number) return wrong("expected a number");
    at_ += digits.size();
    return *number;
  }

  /// LOW, LOW..LAST or LOW,SIZE.
  Status parse_range(Operand& operand) {
    skip_blanks();
    operand.text = word_at(at_);
    TW_ASSIGN_OR_RETURN(operand.number, parse_whole_number());
    operand.last = operand.number;
    const size_t at = at_;
    if (take("..")) {
      TW_ASSIGN_OR_RETURN(operand.last, parse_whole_number());
    } else if (take(",")) {
      TW_ASSIGN_OR_RETURN(const uint64_t size, parse_whole_number());
      if (size == 0 || size - 1 > UINT64_MAX - operand.number) {
        at_ = at;
        return wrong("nothing is in this range");
      }
      operand.last = operand.number + size - 1;
    }
    if (operand.last >= operand.number) return {};
    at_ = at;
    return wrong("nothing is in this range");
  }

  Result<uint32_t> parse_operand() {
    skip_blanks();
    Operand operand;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '"' || c == '\'') {
      TW_RETURN_IF_ERROR(parse_text(c, operand));
    } else if (c == '$') {
      ++at_;
      TW_RETURN_IF_ERROR(parse_register(operand));
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      TW_RETURN_IF_ERROR(parse_number_operand(operand));
    } else {
      TW_RETURN_IF_ERROR(parse_field(operand));
    }
    return put(std::move(operand));
  }

  std::string_view word_at(size_t at) const {
    size_t end = at;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at, end - at);
  }

  Status parse_text(char quote, Operand& operand) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return wrong("the text has no end");
    operand.kind = Operand::Kind::Text;
    operand.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return {};
  }

  Status parse_register(Operand& operand) {
    const std::string_view name = word_at(at_);
    if (!find_register(name, operand)) {
      --at_;
      return wrong("the trace has no such register");
    }
    const Register& found = out_.registers_.registers[operand.index];
    if (operand.bytes == 0 && found.size_bytes > 8)
      return wrong("the register is wider than a number");
    at_ += name.size();
    if (!text_.substr(at_).starts_with(".before")) return {};
    at_ += std::string_view(".before").size();
    operand.before = true;
    return {};
  }

  bool find_register(std::string_view name, Operand& operand) const {
    const auto place = machine::find_register(out_.registers_, name);
    if (!place) return false;
    operand.kind = Operand::Kind::Register;
    operand.index = place->index;
    operand.first_byte = place->first_byte;
    operand.bytes = place->bytes;
    return true;
  }

  Status parse_number_operand(Operand& operand) {
    const bool minus = text_[at_] == '-';
    const std::string_view digits = word_at(at_ + (minus ? 1 : 0));
    const auto number = parse_number(digits);
    if (!number || (minus && *number > uint64_t{1} << 63))
      return wrong("this is not a number; a hexadecimal one begins with 0x");
    operand.text = text_.substr(at_, digits.size() + (minus ? 1 : 0));
    operand.negative = minus && *number != 0;
    operand.number = minus ? ~*number + 1 : *number;
    at_ += digits.size() + (minus ? 1 : 0);
    return {};
  }

  Status parse_field(Operand& operand) {
    const std::string_view name = word_at(at_);
    for (const auto& [known, field] : kFields) {
      if (known != name) continue;
      if (field == Field::Symbol && !out_.words_.symbol)
        return wrong("symbols are those of --image FILE[@BASE], which is not there");
      operand.kind = Operand::Kind::Field;
      operand.field = field;
      at_ += name.size();
      return {};
    }
    if (name == "read" || name == "write" || name == "access") return parse_access(name, operand);
    if (Operand ignored; !name.empty() && find_register(name, ignored))
      return parse_register(operand);
    return wrong(
        "expected a number, a text, a register or one of step, seq, tid, pid, process, cpu, "
        "time_ns, tracepoint, pc, kind, id, subhook, mnemonic, disassembly, module, symbol, text, "
        "read, write, access");
  }

  Status parse_access(std::string_view name, Operand& operand) {
    operand.kind = Operand::Kind::Access;
    operand.reads = name != "write";
    operand.writes = name != "read";
    at_ += name.size();
    if (!take("[")) return {};
    TW_RETURN_IF_ERROR(parse_range(operand));
    return take("]") ? Status() : wrong("a closing bracket is missing");
  }

  std::string_view text_;
  Expression& out_;
  size_t at_ = 0;
  int depth_ = 0;
};

bool Expression::names(std::string_view word) const {
  return std::ranges::any_of(operands_, [word](const Operand& one) {
    if (one.kind == Operand::Kind::Access)
      return word == (one.reads && one.writes ? "access" : one.reads ? "read" : "write");
    if (one.kind != Operand::Kind::Field) return false;
    return std::ranges::any_of(ExpressionParser::kFields, [&](const auto& known) {
      return known.first == word && known.second == one.field;
    });
  });
}

Result<Expression> Expression::parse(std::string_view text, const Catalog& catalog,
                                     AddressWords words) {
  Expression out;
  if (text.size() > kTextMax) return Error{Errc::InvalidArgument, "the expression is too long", {}};
  out.registers_ = catalog.registers;
  out.modules_ = catalog.modules;
  out.endian_ = catalog.endian;
  out.words_ = std::move(words);
  out.decoder_ = std::make_shared<const machine::FlowDecoder>(catalog.machine);
  TW_RETURN_IF_ERROR(ExpressionParser(text, out).parse());
  out.asks_pids_ = out.names("pid");
  if (out.asks_pids_) out.processes_ = ProcessTable(catalog);
  return out;
}

}  // namespace tracewell::filter
