#include "filter/expression.h"

#include <algorithm>
#include <compare>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "machine/mnemonics.h"

namespace tracewell::filter {
namespace {

using Access = Step::MemoryAccess;

constexpr size_t kNumberBytesMax = 8;

/// The last byte; ranges that wrap around end at the end.
uint64_t last_of(const Access& access) {
  const uint64_t reach = access.size == 0 ? 0 : access.size - 1;
  return access.address > UINT64_MAX - reach ? UINT64_MAX : access.address + reach;
}

/// The file's name alone, whichever system it is from.
std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 = 0
}

}  // namespace

bool Expression::matches(const Event& event, const RegisterState* before) const {
  return holds(root_, {event, before});
}

bool Expression::names_registers() const {
  return std::ranges::any_of(operands_, [](const Operand& one) {
    return one.kind == Operand::Kind::Register;
  });
}

bool Expression::is_mnemonic(const Operand& one) {
  return one.kind == Operand::Kind::Field && one.field == Field::Mnemonic;
}

bool Expression::is_disassembly(const Operand& one) {
  return one.kind == Operand::Kind::Field && one.field == Field::Disassembly;
}

bool Expression::is_address_word(const Operand& one) {
  return one.kind == Operand::Kind::Field &&
         (one.field == Field::Module || one.field == Field::Symbol);
}

bool Expression::holds_text(const Operand& one) {
  if (one.kind == Operand::Kind::Text) return true;
  if (one.kind != Operand::Kind::Field) return false;
  constexpr Field kTexts[] = {Field::Kind,   Field::Mnemonic, Field::Disassembly,
                              Field::Module, Field::Symbol,   Field::Text};
  return std::ranges::find(kTexts, one.field) != std::end(kTexts);
}

std::vector<Expression::Spelled> Expression::spelled_numbers() const {
  std::vector<Spelled> out;
  const auto compared = [&](const Operand& with, const Operand& number) {
    using Kind = Operand::Kind;
    const bool id = with.kind == Kind::Field && with.field == Field::Id;
    const bool place = with.kind == Kind::Field &&
                       (with.field == Field::Pc || with.field == Field::Subhook);
    if ((number.kind == Kind::Number || number.kind == Kind::Range) &&
        (id || place || with.kind == Kind::Register || with.kind == Kind::Access))
      out.push_back({number.text, number.number, id});
  };
  for (const Node& node : nodes_) {
    if (node.op < Op::Equal || node.op == Op::Like) continue;
    compared(operands_[node.left], operands_[node.right]);
    compared(operands_[node.right], operands_[node.left]);
  }
  for (const Operand& one : operands_)
    if (one.kind == Operand::Kind::Access && !one.text.empty())
      out.push_back({one.text, one.number, false});
  return out;
}

std::vector<std::string> Expression::wanted_symbols() const {
  std::vector<std::string> out;
  const auto compared = [&](const Operand& with, const Operand& text) {
    if (with.kind == Operand::Kind::Field && with.field == Field::Symbol &&
        text.kind == Operand::Kind::Text)
      out.push_back(text.text);
  };
  for (const Node& node : nodes_) {
    if (node.op != Op::Equal) continue;
    compared(operands_[node.left], operands_[node.right]);
    compared(operands_[node.right], operands_[node.left]);
  }
  return out;
}

bool Expression::holds(uint32_t node, const Asked& asked) const {
  const Node& one = nodes_[node];
  switch (one.op) {
    case Op::Or:
      return holds(one.left, asked) || holds(one.right, asked);
    case Op::And:
      return holds(one.left, asked) && holds(one.right, asked);
    case Op::Not:
      return !holds(one.left, asked);
    default:
      return one.by_instruction ? remembered(node, asked)
             : one.by_address   ? remembered_at(node, asked)
                                : comparison_holds(one, asked);
  }
}

bool Expression::comparison_holds(const Node& node, const Asked& asked) const {
  return node.op == Op::Exists ? exists(operands_[node.left], asked) : compares(node, asked);
}

void Expression::classify(Node& node) const {
  if (node.op < Op::Exists) return;
  bool constant = true;
  for (const uint32_t index : {node.left, node.op == Op::Exists ? node.left : node.right}) {
    const Operand& one = operands_[index];
    using Kind = Operand::Kind;
    node.by_place |= is_disassembly(one);
    node.by_instruction |= is_disassembly(one) || is_mnemonic(one);
    node.by_address |= is_address_word(one);
    constant &= one.kind == Kind::Number || one.kind == Kind::Text || one.kind == Kind::Range ||
                one.kind == Kind::Pattern || is_disassembly(one) || is_mnemonic(one) ||
                is_address_word(one);
  }
  const bool both = node.by_instruction && node.by_address;
  node.by_instruction &= constant && !both;
  node.by_address &= constant && !both;
}

bool Expression::remembered(uint32_t question, const Asked& asked) const {
  using Answer = AnswerCache::Answer;
  const Node& node = nodes_[question];
  const auto* step = std::get_if<Step>(&asked.event.body);
  if (!step || step->opcode.size() > AnswerCache::kOpcodeMax) return comparison_holds(node, asked);
  // Two questions of each node: what the answer is wherever the instruction stands, and there.
  AnswerCache::Key key = AnswerCache::key(2 * question, step->opcode, 0);
  Answer answer = answers_.find(key);
  if (answer == Answer::Unknown && node.by_place && decoder_->is_relative(step->opcode))
    answers_.put(key, answer = Answer::ByAddress);
  if (answer == Answer::ByAddress) {
    key = AnswerCache::key(2 * question + 1, step->opcode, step->pc);
    answer = answers_.find(key);
  }
  if (answer == Answer::Unknown)
    answers_.put(key, answer = comparison_holds(node, asked) ? Answer::Yes : Answer::No);
  return answer == Answer::Yes;
}

bool Expression::remembered_at(uint32_t question, const Asked& asked) const {
  using Answer = AnswerCache::Answer;
  const Node& node = nodes_[question];
  const auto* step = std::get_if<Step>(&asked.event.body);
  const auto* frame = std::get_if<Frame>(&asked.event.body);
  if (!step && !(frame && frame->pc)) return comparison_holds(node, asked);
  budget_.asked();
  const AnswerCache::Key key = AnswerCache::key(2 * question, {}, step ? step->pc : *frame->pc);
  Answer answer = answers_.find(key);
  if (answer == Answer::Unknown)
    answers_.put(key, answer = comparison_holds(node, asked) ? Answer::Yes : Answer::No);
  return answer == Answer::Yes;
}

template <class Holds>
bool Expression::any(const Operand& operand, const Asked& asked, Holds&& holds) const {
  switch (operand.kind) {
    case Operand::Kind::Number:
      return holds(Value{true, false, operand.negative, operand.number, {}});
    case Operand::Kind::Text:
      return holds(Value{true, true, false, 0, operand.text});
    case Operand::Kind::Field: {
      Value value = field_value(operand.field, asked.event);
      if (operand.field == Field::Mnemonic)
        for (const std::string& name : machine::mnemonic_names(value.text))
          if (name != value.text && holds(Value{true, true, false, 0, name})) return true;
      return holds(std::move(value));
    }
    case Operand::Kind::Register:
      return holds(register_value(operand, asked));
    case Operand::Kind::Range:
    case Operand::Kind::Pattern:
      return false;
    case Operand::Kind::Access:
      break;
  }
  const auto* step = std::get_if<Step>(&asked.event.body);
  if (!step) return false;
  auto one_of = [&](Bytes bytes) {
    return !bytes.empty() && bytes.size() <= kNumberBytesMax &&
           holds(Value{true, false, false, load_uint(bytes.data(), bytes.size(), endian_), {}});
  };
  for (const Access& access : step->memory) {
    const bool reads = operand.reads && access.kind != Access::Kind::Write;
    const bool writes = operand.writes && access.kind != Access::Kind::Read;
    if (access.kind == Access::Kind::Nearby || last_of(access) < operand.number ||
        access.address > operand.last)
      continue;
    if (reads && one_of(access.old_bytes)) return true;
    if (writes && one_of(access.new_bytes)) return true;
  }
  return false;
}

bool Expression::exists(const Operand& operand, const Asked& asked) const {
  if (operand.kind != Operand::Kind::Access)
    return any(operand, asked, [](const Value& value) {
      return value.there && (value.is_text ? !value.text.empty() : value.number != 0);
    });
  const auto* step = std::get_if<Step>(&asked.event.body);
  return step && std::ranges::any_of(step->memory, [&](const Access& access) {
    const bool touches = access.kind == Access::Kind::Read    ? operand.reads
                         : access.kind == Access::Kind::Write ? operand.writes
                                                              : true;
    return access.kind != Access::Kind::Nearby && touches && last_of(access) >= operand.number &&
           access.address <= operand.last;
  });
}

bool Expression::compares(const Node& node, const Asked& asked) const {
  const Operand& right = operands_[node.right];
  // None of an instruction's names is to be that one.
  const auto is_text = [&](const Operand& one) {
    return any(one, asked, [](const Value& value) { return value.there && value.is_text; });
  };
  if (node.op == Op::NotEqual && (is_mnemonic(operands_[node.left]) || is_mnemonic(right)))
    return is_text(operands_[node.left]) && is_text(right) &&
           !compares({Op::Equal, node.left, node.right}, asked);
  return any(operands_[node.left], asked, [&](const Value& left) {
    if (node.op == Op::Like)
      return left.there && left.is_text &&
             is_found(*right.pattern, left.text, is_address_word(operands_[node.left]));
    if (node.op == Op::In)
      return left.there && !left.is_text && !left.negative && left.number >= right.number &&
             left.number <= right.last;
    return any(right, asked, [&](const Value& value) { return compare(node.op, left, value); });
  });
}

Expression::Value Expression::field_value(Field field, const Event& event) const {
  auto number = [](uint64_t value) { return Value{true, false, false, value, {}}; };
  auto signed_number = [](int64_t value) {
    return Value{true, false, value < 0, static_cast<uint64_t>(value), {}};
  };
  const auto* frame = std::get_if<Frame>(&event.body);
  const auto* hook = std::get_if<Hook>(&event.body);
  switch (field) {
    case Field::Seq:
      return number(event.seq);
    case Field::Tid:
      return event.tid != 0 ? number(event.tid) : Value();
    case Field::Pid: {
      const uint32_t pid = processes_.pid_of(event);
      return pid != 0 ? number(pid) : Value();
    }
    case Field::Process:
      return event.process != 0 ? number(event.process) : Value();
    case Field::Cpu:
      return event.cpu >= 0 ? signed_number(event.cpu) : Value();
    case Field::TimeNs:
      return event.time_ns ? signed_number(*event.time_ns) : Value();
    case Field::Tracepoint:
      return frame ? signed_number(frame->tracepoint) : Value();
    case Field::Kind:
      return {true, true, false, 0, std::string(kEventKinds[event.body.index()])};
    case Field::Id:
      return hook ? number(hook->id) : Value();
    case Field::Subhook:
      return hook ? number(hook->subhook) : Value();
    case Field::Text: {
      const auto* mark = std::get_if<Mark>(&event.body);
      return mark ? Value{true, true, false, 0, std::string(mark->text)} : Value();
    }
    default:
      return place_value(field, event);
  }
}

/// What an event has because of where it is.
Expression::Value Expression::place_value(Field field, const Event& event) const {
  auto text = [](std::string value) {
    return Value{!value.empty(), true, false, 0, std::move(value)};
  };
  const auto* step = std::get_if<Step>(&event.body);
  const auto* frame = std::get_if<Frame>(&event.body);
  if (!step && !(frame && frame->pc)) return {};
  const uint64_t pc = step ? step->pc : *frame->pc;
  if (step && (field == Field::Mnemonic || field == Field::Disassembly)) ++decoded_;
  switch (field) {
    case Field::Pc:
      return {true, false, false, pc, {}};
    case Field::Mnemonic:
      return step ? text(std::string(decoder_->mnemonic(step->opcode))) : Value();
    case Field::Disassembly:
      return step ? text(decoder_->text(step->opcode, pc)) : Value();
    case Field::Symbol:
      return words_.symbol ? text(words_.symbol(pc)) : Value();
    default:
      break;
  }
  if (words_.module)
    if (std::string name = words_.module(pc); !name.empty()) return text(std::move(name));
  for (const Module& one : modules_)
    if (pc >= one.start && pc - one.start < one.size_bytes)
      return text(std::string(file_name(one.path)));
  return {};
}

Expression::Value Expression::register_value(const Operand& operand, const Asked& asked) const {
  const Register& one = registers_.registers[operand.index];
  Bytes bytes;
  if (const auto* frame = std::get_if<Frame>(&asked.event.body)) {
    const FrameBlock* block = find_block(*frame, FrameBlock::Kind::Registers);
    if (!block || !register_valid(*frame, operand.index) || one.offset > block->bytes.size() ||
        one.size_bytes > block->bytes.size() - one.offset)
      return {};
    bytes = block->bytes.subspan(one.offset, one.size_bytes);
  } else if (const auto* step = std::get_if<Step>(&asked.event.body)) {
    bool told = operand.before || step->after_known;
    if (told) {
      if (asked.before && asked.before->is_valid(operand.index))
        bytes = Bytes(asked.before->block).subspan(one.offset, one.size_bytes);
      for (const Step::RegisterChange& change : step->before)
        if (change.index == operand.index) bytes = change.value;
    }
    for (const Step::RegisterChange& change : step->registers) {
      if (operand.before || change.index != operand.index) continue;
      bytes = change.value;
      told = true;
    }
    if (!told && watch_.untold) watch_.untold();
  }
  if (bytes.empty() || bytes.size() > kNumberBytesMax) return {};
  uint64_t number = load_uint(bytes.data(), bytes.size(), endian_) >> (8 * operand.first_byte);
  if (operand.bytes != 0 && operand.bytes < kNumberBytesMax)
    number &= (uint64_t{1} << (8 * operand.bytes)) - 1;
  return {true, false, false, number, {}};
}

int64_t thread_processor_ns() {
  constexpr int64_t kSecondNs = 1'000'000'000;
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

bool Expression::is_found(const Pattern& pattern, std::string_view text, bool of_address) const {
  if (watch_.stop && watch_.stop()) return false;
  const size_t most = std::min(text.size(), pattern.searched_max());
  if (most < text.size() && watch_.cut) watch_.cut(text.size(), most);
  if (!of_address) return pattern.found_in(text, most);
  const size_t searched = budget_.allowed(most, pattern.states());
  if (searched < most && watch_.spent) watch_.spent(text.size(), searched);
  if (!SearchBudget::is_timed(searched, pattern.states())) return pattern.found_in(text, searched);
  const int64_t begin = watch_.processor_ns();
  const bool found = pattern.found_in(text, searched);
  budget_.spend(watch_.processor_ns() - begin);
  return found;
}

bool Expression::compare(Op op, const Value& left, const Value& right) const {
  if (!left.there || !right.there || left.is_text != right.is_text) return false;
  // A negative number is below all others; of one sign, two's complement sorts as it should.
  const auto order = left.is_text                      ? left.text <=> right.text
                     : left.negative != right.negative ? right.negative <=> left.negative
                                                       : left.number <=> right.number;
  switch (op) {
    case Op::Equal:
      return order == 0;
    case Op::NotEqual:
      return order != 0;
    case Op::Less:
      return order < 0;
    case Op::LessEqual:
      return order <= 0;
    case Op::Greater:
      return order > 0;
    case Op::GreaterEqual:
      return order >= 0;
    default:
      return false;
  }
}

}  // namespace tracewell::filter
