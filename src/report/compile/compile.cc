#include "report/compile/compile.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "report/render/line.h"

namespace tracewell::report {
namespace {

constexpr size_t kLabelMax = 512;
constexpr uint64_t kMoveMax = uint64_t{1} << 30;

/// Sizes of the program's tables, to go back to.
struct Sizes {
  explicit Sizes(const Program& program)
      : code(program.code.size()),
        texts(program.texts.size()),
        switches(program.switches.size()),
        text_switches(program.text_switches.size()),
        fields(program.fields.size()),
        calls(program.calls.size()) {}
  void restore(Program& program) const {
    program.code.resize(code);
    program.texts.resize(texts);
    program.switches.resize(switches);
    program.text_switches.resize(text_switches);
    program.fields.resize(fields);
    program.calls.resize(calls);
  }
  size_t code, texts, switches, text_switches, fields, calls;
};

bool is_error(const Item& item) {
  return item.kind == Item::Kind::Print && item.datum->macro == "ERROR";
}

/// Words of a template, which may come from somebody else, too: as data, but for its blanks.
std::string shown_words(std::string_view words) {
  std::string out(words);
  put_outside(out.data(), words);
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == '\t' || words[i] == '\n') out[i] = words[i];
  return out;
}

}  // namespace

std::optional<uint16_t> parse_hook(std::string_view digits) {
  const auto number = parse_hex(digits);
  if (!number || digits.size() < 3 || digits.size() > 4) return std::nullopt;
  return static_cast<uint16_t>(digits.size() == 3 ? *number << 4 : *number);
}

std::optional<TemplateInfo> Compiler::compile(const TemplateText& source) {
  const Sizes sizes(program_);
  const uint64_t errors = diagnostics_.errors();
  TemplateInfo info;
  info.begin = here();
  header(source, info);
  slots_.clear();
  define_slots(source.items);
  info.slots = static_cast<uint32_t>(slots_.size());
  if (slots_.size() > kSlotsMax)
    diagnostics_.error(
        source.place, "too-many-macros",
        fmt::format("the template defines {} macros, at most {}", slots_.size(), kSlotsMax));
  if (!source.label.empty() && source.label[0] != '@') text(source.label, true);
  items(source.items);
  emit(Op::Return);
  if (diagnostics_.errors() == errors) return info;
  sizes.restore(program_);
  return std::nullopt;
}

void Compiler::header(const TemplateText& source, TemplateInfo& info) {
  info.hook = parse_hook(source.hook).value_or(0);
  info.version_major = source.version_major;
  info.version_minor = source.version_minor;
  info.file = diagnostics_.file();
  info.place = source.place;
  info.label = shown_words(source.label);
  if (source.label.size() > kLabelMax)
    diagnostics_.error(
        source.label_place, "label",
        fmt::format("the label has {} characters, at most {}", source.label.size(), kLabelMax));
  if (source.level.empty() || source.level == "KERN") return;
  if (source.level == "APPL") {
    info.level = Level::Appl;
  } else if (source.level == "SVC") {
    info.level = Level::Svc;
  } else if (source.level == "INT") {
    info.level = Level::Int;
  } else if (source.level == "SYS") {
    info.level = Level::Svc;
    diagnostics_.warning(source.level_place, "level", "SYS is taken for SVC");
  } else {
    diagnostics_.error(
        source.level_place, "level",
        fmt::format("there is no level {}; expected APPL, SVC, KERN or INT", source.level));
  }
}

/// By the order of their first definitions, which is how subroutines share them.
void Compiler::define_slots(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (item.kind == Item::Kind::Assign && !find_builtin(item.text) && !find_act(item.text))
      slots_.try_emplace(item.text, static_cast<uint32_t>(slots_.size()));
    define_slots(item.items);
    for (const Case& it : item.cases) define_slots(it.items);
  }
}

Instruction& Compiler::emit(Op op) {
  Instruction& added = program_.code.emplace_back();
  added.op = op;
  return added;
}

void Compiler::text(std::string_view text, bool owes) {
  if (text.empty()) return;
  const auto at = static_cast<uint32_t>(program_.texts.size());
  const auto size = static_cast<uint32_t>(text.size());
  owes = owes && !glued_;
  Instruction* last = program_.code.size() > barrier_ ? &program_.code.back() : nullptr;
  if (last && last->op == Op::Text && last->index + last->count == at) {
    const bool paid = last->owes && text[0] != ' ' && text[0] != '\t';
    if (paid) program_.texts += ' ';
    program_.texts += shown_words(text);
    last->count += size + (paid ? 1 : 0);
    last->owes = owes;
    return;
  }
  program_.texts += shown_words(text);
  Instruction& added = emit(Op::Text);
  added.index = at;
  added.count = size;
  added.owes = owes;
}

void Compiler::items(const std::vector<Item>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    const Item* before = i > 0 ? &items[i - 1] : nullptr;
    const Item* behind = i + 1 < items.size() ? &items[i + 1] : nullptr;
    if (items[i].kind == Item::Kind::Word) {
      word(items[i], before, behind);
    } else {
      item(items[i]);
    }
  }
  // An error lets the block it stands in go on to its end, and the template no further.
  if (std::any_of(items.begin(), items.end(), is_error)) emit(Op::Return);
}

void Compiler::item(const Item& item) {
  switch (item.kind) {
    case Item::Kind::Text:
      return text(item.text, false);
    case Item::Kind::Word:
      return text(item.text, true);
    case Item::Kind::Quote:
      return quote(item);
    case Item::Kind::NewLine:
      emit(Op::NewLine);
      return;
    case Item::Kind::Tab:
      emit(Op::Tab);
      return;
    case Item::Kind::Move:
      return move(item);
    case Item::Kind::Print:
      return print(*item.datum);
    case Item::Kind::Switch:
      return choice(item);
    case Item::Kind::Loop:
      return loop(item);
    case Item::Kind::BitFlags:
      return bit_flags(item);
    case Item::Kind::Assign:
      return assign(item);
    case Item::Kind::StartTimer:
    case Item::Kind::EndTimer:
      return timer(item);
  }
}

void Compiler::word(const Item& word, const Item* before, const Item* behind) {
  const bool like_a_case =
      before && before->kind == Item::Kind::Switch && behind && behind->kind == Item::Kind::Text;
  if (like_a_case) {
    diagnostics_.warning(word.place, "case-without-comma",
                         fmt::format("\"{}\" is printed: the switch ended at the case before it, "
                                     "which has no comma",
                                     word.text));
  } else {
    diagnostics_.warning(
        word.place, "unquoted-word",
        fmt::format("\"{}\" is no code and prints as it stands; put it in quotes", word.text));
  }
  text(word.text, true);
}

void Compiler::quote(const Item& quote) {
  glued_ = true;
  for (const Item& part : quote.items) item(part);
  glued_ = false;
}

void Compiler::move(const Item& item) {
  const CodeText& code = *item.move;
  if (code.bytes.value_or(0) > kMoveMax || code.bits.value_or(0) > UINT16_MAX) {
    diagnostics_.error(code.place, "move", "no entry is that long");
    return;
  }
  Op op = Op::Go;
  if (code.letters == "O") op = Op::Advance;
  if (code.letters == "R") op = Op::Back;
  if (code.letters == "W") op = Op::GoWord;
  Instruction& added = emit(op);
  added.use.bytes = static_cast<uint32_t>(code.bytes.value_or(0));
  added.use.bits = static_cast<uint16_t>(code.bits.value_or(0));
}

void Compiler::loop(const Item& item) {
  if (!push_number(*item.datum, "a count")) return;
  const size_t loop = program_.code.size();
  emit(Op::Loop);
  const uint32_t body = here();
  items(item.items);
  emit(Op::LoopEnd).index = body;
  program_.code[loop].index = here();
}

void Compiler::assign(const Item& item) {
  const auto builtin = find_builtin(item.text);
  const bool pointer = builtin == Builtin::DATAPOINTER || builtin == Builtin::BASEPOINTER;
  if ((builtin && !pointer) || find_act(item.text)) {
    diagnostics_.error(item.place, "assignment", fmt::format("${} cannot be assigned", item.text));
    return;
  }
  if (!builtin && parse_hook(item.text))
    diagnostics_.warning(item.place, "macro-reads-as-subroutine",
                         fmt::format("wherever ${} is read, template {} is called; the macro needs "
                                     "another name",
                                     item.text, item.text));
  if (!item.expr) return;  // a declaration
  expr(*item.expr);
  if (pointer) {
    emit(builtin == Builtin::DATAPOINTER ? Op::StoreData : Op::StoreBase);
  } else {
    emit(Op::StoreSlot).index = slots_.find(item.text)->second;
  }
}

void Compiler::timer(const Item& item) {
  expr(*item.expr);
  expr(*item.second);
  Instruction& added = emit(item.kind == Item::Kind::StartTimer ? Op::StartTimer : Op::EndTimer);
  added.owes = !glued_;
}

void Compiler::expr(const Expr& expr) {
  here();
  size_t at = product(expr, 0);
  while (at < expr.operators.size()) {
    const char op = expr.operators[at];
    at = product(expr, at + 1);
    binary(expr.place, op);
  }
}

/// The terms from `first` on that * and / join. Returns the operator behind them.
size_t Compiler::product(const Expr& expr, size_t first) {
  term(expr.terms[first]);
  size_t at = first;
  for (; at < expr.operators.size(); ++at) {
    const char op = expr.operators[at];
    if (op != '*' && op != '/') break;
    term(expr.terms[at + 1]);
    binary(expr.place, op);
  }
  return at;
}

void Compiler::term(const Term& term) {
  if (term.number) {
    emit(Op::PushNumber).number = *term.number;
  } else {
    push_number(term.datum, "a term");
  }
}

void Compiler::binary(Place place, char op) {
  std::vector<Instruction>& code = program_.code;
  const bool right = code.size() > barrier_ && code.back().op == Op::PushNumber;
  const bool left =
      right && code.size() > barrier_ + 1 && code[code.size() - 2].op == Op::PushNumber;
  if (op == '/' && right && code.back().number == 0) {
    diagnostics_.warning(place, "division-by-zero", "this divides by zero");
  } else if (left) {
    const uint64_t b = code.back().number;
    code.pop_back();
    uint64_t& a = code.back().number;
    if (op == '+') a += b;
    if (op == '-') a -= b;
    if (op == '*') a *= b;
    // The smallest number by -1 wraps.
    if (op == '/')
      a = b == ~uint64_t{0}
              ? 0 - a
              : static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
    return;
  }
  emit(op == '+' ? Op::Add : op == '-' ? Op::Subtract : op == '*' ? Op::Multiply : Op::Divide);
}

}  // namespace tracewell::report
