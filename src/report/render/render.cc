#include "report/render/render.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tracewell::report {
namespace {

// Rounds of loops, and calls, that an event may take: what the entry's bytes can need, and some
// for loops that read nothing. A count out of damaged data ends there.
constexpr uint64_t kRoundsBase = 16384, kRoundsPerByte = 8;
// A round, or what is called, may be as long as a template. So many instructions for each round,
// and once all that there are.
constexpr uint64_t kWorkPerRound = 64;
// Many events that each need that much would take hours: so an event's own share is what templates
// need as a rule, and what is more comes out of what all events have in common. All instructions
// that there are, once, belong to its own share, so that templates without loops and calls are
// not cut; but only up to a number that a million events have in half a minute.
constexpr uint64_t kShareBase = 256, kSharePerByte = 32, kShareOnce = 1024;
// What an instruction that fails costs beside: it says so in the line.
constexpr int64_t kFaultWork = 15;
// More bytes than entries have: what is counted with them stays within its type.
constexpr uint64_t kBytesMax = uint64_t{1} << 48;
// Instructions between two looks at what is left, and at whether somebody still waits.
constexpr int kStretch = 128;
// Bytes of a text that an instruction may look at, or print, for the price of another one.
constexpr uint64_t kBytesPerWork = 64;
// Text, with the blanks that indent its lines: an event's own share of it is some lines, and what
// its bytes are when each is one. Each byte that is more takes so many instructions out of what all
// events have in common; else a log of some kilobytes becomes gigabytes.
constexpr uint64_t kTextBase = 4096, kTextPerByte = 64, kTextOnce = 4096;
constexpr uint64_t kWorkPerTextByte = 4;

template <class... Args>
void fault(Context& context, fmt::format_string<Args...> format, Args&&... args) {
  char text[128];
  const auto end = fmt::format_to_n(text, sizeof text, format, std::forward<Args>(args)...);
  context.fault({text, std::min(end.size, sizeof text)});
}

}  // namespace

Outcome Renderer::render(const Entry& entry, uint32_t indent) {
  constexpr uint16_t kUndefined = 0x0070;
  const TemplateInfo* info = templates_.find(entry.hook);
  if (info && info->reserved && !entry.facility) info = nullptr;
  return render(entry, indent, info ? *info : *templates_.find(kUndefined));
}

Outcome Renderer::render(const Entry& entry, uint32_t indent, const TemplateInfo& info) {
  begin(entry, indent, info);
  const Instruction* const code = templates_.program().code.data();
  int left = 0;
  do {
    for (left = kStretch; left != 0 && step(code[at_++]) == Next::Go;) --left;
  } while (left == 0 && !spent());
  if (outcome_ == Outcome::Skipped) context_.line.drop();
  take_from_common();
  return outcome_;
}

void Renderer::begin(const Entry& entry, uint32_t indent, const TemplateInfo& info) {
  context_.entry = &entry;
  context_.cursor.begin(entry);
  context_.line.begin(indent);
  context_.failed = context_.read_failed = false;
  context_.faults = 0;
  std::fill_n(slots_.begin(), info.slots, 0);
  slots_used_ = info.slots;
  at_ = info.begin;
  depth_ = loop_depth_ = frame_depth_ = 0;
  rounds_left_ = kRoundsBase + kRoundsPerByte * std::min<uint64_t>(entry.buffer.size(), kBytesMax);
  const uint64_t once = templates_.program().code.size();
  const auto most = static_cast<int64_t>(kWorkPerRound * rounds_left_ + once);
  work_share_ = static_cast<int64_t>(
      kShareBase + kSharePerByte * std::min<uint64_t>(entry.buffer.size(), kBytesMax) +
      std::min(once, kShareOnce));
  work_given_ = std::min(most, work_share_ + *common_work_);
  common_ended_ = work_given_ < most;
  work_left_ = work_given_;
  text_share_ = kTextBase + kTextPerByte * std::min<uint64_t>(entry.buffer.size(), kBytesMax) +
                std::min<uint64_t>(templates_.program().texts.size(), kTextOnce);
  text_given_ = std::min<uint64_t>(
      kTextMax, text_share_ + static_cast<uint64_t>(*common_work_) / kWorkPerTextByte);
  outcome_ = Outcome::Printed;
}

Renderer::Next Renderer::step(const Instruction& it) {
  switch (it.op) {
    case Op::Text:
      context_.line.literal({templates_.program().texts.data() + it.index, it.count});
      work_left_ -= static_cast<int64_t>(it.count / kBytesPerWork);
      if (it.owes) context_.line.owe();
      return too_long() ? Next::End : Next::Go;
    case Op::PrintWord:
      codes::print_hex(context_, context_.entry->word(it.index), 4);
      if (it.owes) context_.line.owe();
      return Next::Go;
    case Op::NewLine:
      context_.line.new_line();
      return too_long() ? Next::End : Next::Go;
    case Op::Tab:
      context_.line.tab();
      return Next::Go;
    case Op::Go:
    case Op::Advance:
    case Op::Back:
    case Op::GoWord:
      moves(it);
      return Next::Go;
    case Op::PushNumber:
      push(it.number);
      return Next::Go;
    case Op::PushBuiltin:
      push(value_of(static_cast<Builtin>(it.index), context_));
      return Next::Go;
    case Op::PushSlot:
      push(slots_[it.index]);
      return Next::Go;
    case Op::PushCode:
      push_code(it);
      return Next::Go;
    case Op::Narrow:
      values_[depth_ - 1].number = narrow(it.use, values_[depth_ - 1].number);
      return Next::Go;
    case Op::And:
      values_[depth_ - 1].number &= it.number;
      return Next::Go;
    case Op::Add:
    case Op::Subtract:
    case Op::Multiply:
    case Op::Divide:
      arithmetic(it.op);
      return Next::Go;
    case Op::Print:
    case Op::PrintPlain:
    case Op::PrintText:
    case Op::PrintCode:
    case Op::PrintSized:
      prints(it);
      return too_long() ? Next::End : Next::Go;
    case Op::StoreSlot:
    case Op::StoreData:
    case Op::StoreBase:
      stores(it);
      return Next::Go;
    default:
      return control(it);
  }
}

Renderer::Next Renderer::control(const Instruction& it) {
  const Program& program = templates_.program();
  switch (it.op) {
    case Op::Jump:
      at_ = it.index;
      return Next::Go;
    case Op::Switch:
      at_ = target_of(program.switches[it.index], static_cast<int64_t>(pop().number));
      return Next::Go;
    case Op::SwitchText:
      at_ = target_of(program.text_switches[it.index], pop().text);
      return Next::Go;
    case Op::UnlessFlag:
    case Op::UnlessField:
      flag_tests(it);
      return Next::Go;
    case Op::Guard:
      if (!take_failed()) return Next::Go;
      pop();
      at_ = it.index;
      return Next::Go;
    case Op::Pop:
      pop();
      return Next::Go;
    case Op::Loop:
      loop(it);
      return Next::Go;
    case Op::LoopEnd:
      loop_end(it);
      return tired() ? Next::End : Next::Go;
    case Op::Call:
      call(it);
      return tired() ? Next::End : Next::Go;
    case Op::StartTimer:
    case Op::EndTimer:
      timer(it);
      return Next::Go;
    case Op::Error:
      fault(context_, "error in {} at offset 0x{:x}, hook {:04X}",
            context_.facts->name.substr(0, 60), context_.entry->log_offset, context_.entry->hook);
      context_.failed = false;
      return Next::Go;
    case Op::Return:
      return leave();
    case Op::Skip:
      outcome_ = Outcome::Skipped;
      return Next::End;
    case Op::Stop:
      outcome_ = Outcome::Stopped;
      return Next::End;
    case Op::Raw:
      print_raw(context_);
      return Next::Go;
    default:
      return Next::End;  // $BREAK
  }
}

void Renderer::moves(const Instruction& it) {
  Cursor& cursor = context_.cursor;
  const uint64_t bytes = it.use.bytes, size = context_.entry->buffer.size();
  bool there = false;
  char letter = 'G';
  if (it.op == Op::Go) {
    there = cursor.go(bytes, it.use.bits);
  } else if (it.op == Op::Advance) {
    letter = 'O';
    there = cursor.advance(bytes, it.use.bits);
  } else if (it.op == Op::GoWord) {
    letter = 'W';
    there = cursor.go(bytes * context_.entry->word_bytes(), 0);
  } else {
    there = cursor.back(bytes);
    if (!there) fault(context_, "R{} before entry start", bytes);
    context_.failed = false;
    return;
  }
  if (!there) fault(context_, "{}{} behind the entry, which has {} bytes", letter, bytes, size);
  context_.failed = false;
}

void Renderer::push_code(const Instruction& it) {
  Value value;
  const bool read = read_code(context_, it.use, value);
  work_left_ -= static_cast<int64_t>(value.text.size() / kBytesPerWork);
  if (read && value.missing != 0) {
    context_.read_failed = true;
    fault(context_, "{} reads {} bytes behind the entry", code_info(it.use.code).name,
          value.missing);
  }
  push(value);
}

void Renderer::arithmetic(Op op) {
  const uint64_t b = pop().number;
  uint64_t& a = values_[depth_ - 1].number;
  if (op == Op::Add) {
    a += b;
  } else if (op == Op::Subtract) {
    a -= b;
  } else if (op == Op::Multiply) {
    a *= b;
  } else if (b == 0) {
    if (!context_.failed) fault(context_, "division by zero");
  } else {
    // The smallest number by -1 wraps.
    a = b == ~uint64_t{0}
            ? 0 - a
            : static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
  }
}

void Renderer::prints(const Instruction& it) {
  Value value;
  bool failed = false;
  if (it.op == Op::PrintCode) {
    failed = !read_code(context_, it.use, value);
  } else {
    value = pop();
    failed = context_.failed;
  }
  work_left_ -= static_cast<int64_t>(value.text.size() / kBytesPerWork);
  if (!failed) {
    switch (it.op) {
      case Op::PrintPlain:
        codes::print_hex(context_, value.number, 4);
        break;
      case Op::PrintText:
        context_.line.outside(value.text);
        break;
      case Op::PrintSized:
        codes::take_text(context_, value.number, value);
        codes::print_text(context_, it.use, value);
        break;
      default:
        print_code(context_, it.use, value);
        break;
    }
    if (it.owes) context_.line.owe();
  }
  context_.failed = false;
}

void Renderer::stores(const Instruction& it) {
  const uint64_t number = pop().number;
  if (take_failed()) return;
  if (it.op == Op::StoreSlot) {
    slots_[it.index] = number;
  } else if (it.op == Op::StoreData ? !context_.cursor.go(number, 0)
                                    : !context_.cursor.set_base(number)) {
    fault(context_, "pointer {} behind the entry, which has {} bytes", static_cast<int64_t>(number),
          context_.entry->buffer.size());
    context_.failed = false;
  }
}

void Renderer::flag_tests(const Instruction& it) {
  const uint64_t number = values_[depth_ - 1].number;
  if (it.op == Op::UnlessFlag) {
    if ((number & it.number) == 0) at_ = it.index;
    return;
  }
  const Program::Field& field = templates_.program().fields[it.count];
  if ((number & field.mask) != field.value) at_ = it.index;
}

void Renderer::loop(const Instruction& it) {
  const auto count = static_cast<int64_t>(pop().number);
  const bool failed = take_failed();
  if (!failed && count < 0) fault(context_, "LOOP of {} rounds", count);
  context_.failed = false;
  if (failed || count <= 0 || loop_depth_ == loops_.size()) {
    at_ = it.index;
    return;
  }
  loops_[loop_depth_++] = {static_cast<uint64_t>(count)};
  context_.read_failed = false;
}

void Renderer::loop_end(const Instruction& it) {
  LoopState& state = loops_[loop_depth_ - 1];
  // Nothing is left to be read: so it would be in all further rounds.
  if (--state.left == 0 || context_.read_failed) {
    --loop_depth_;
    return;
  }
  at_ = it.index;
}

void Renderer::call(const Instruction& it) {
  const Program::CallTarget& target = templates_.program().calls[it.index];
  if (target.begin < 0) {
    fault(context_, "no template {:04X}", target.hook);
  } else if (frame_depth_ == kCallsMax) {
    fault(context_, "subroutine nesting > {}", kCallsMax);
  } else {
    frames_[frame_depth_++] = {at_, loop_depth_, depth_};
    for (; slots_used_ < target.slots; ++slots_used_) slots_[slots_used_] = 0;
    at_ = static_cast<uint32_t>(target.begin);
  }
  context_.failed = false;
}

Renderer::Next Renderer::leave() {
  if (frame_depth_ == 0) return Next::End;
  const Frame& frame = frames_[--frame_depth_];
  at_ = frame.back;
  loop_depth_ = frame.loops;
  depth_ = frame.depth;
  return Next::Go;
}

void Renderer::timer(const Instruction& it) {
  const uint64_t b = pop().number;
  const uint64_t a = pop().number;
  if (take_failed()) return;
  if (it.op == Op::StartTimer) return timers_.start(a, b, context_.entry->time_ns);
  const auto started = timers_.started(a, b);
  if (!started) return;
  // Differences of times out of damaged data may wrap.
  const auto passed = static_cast<int64_t>(static_cast<uint64_t>(context_.entry->time_ns) -
                                           static_cast<uint64_t>(*started));
  char text[40];
  const auto end = fmt::format_to_n(text, sizeof text, "[{} usec]", passed / 1000);
  context_.line.text({text, std::min(end.size, sizeof text)});
  if (it.owes) context_.line.owe();
}

/// Whether the event has had its share of rounds; its line says so.
bool Renderer::tired() {
  if (rounds_left_ == 0) {
    fault(context_, "too many rounds for {} bytes", context_.entry->buffer.size());
    return true;
  }
  --rounds_left_;
  return false;
}

/// Whether it has had its share of text.
bool Renderer::too_long() {
  if (context_.line.size() <= text_given_) return false;
  if (text_given_ == kTextMax)
    fault(context_, "more than {} bytes of text", kTextMax);
  else
    fault(context_, "the text limit for all events together is used up (--template-work)");
  return true;
}

/// Behind a stretch of instructions: whether the event has had its share, or nobody waits for it.
bool Renderer::spent() {
  if (stop_ && stop_()) {
    outcome_ = Outcome::Skipped;
    return true;
  }
  work_left_ -= kStretch + kFaultWork * std::exchange(context_.faults, 0);
  if (work_left_ >= 0) return too_long();
  if (common_ended_)
    fault(context_, "the instruction limit for all events together is used up (--template-work)");
  else
    fault(context_, "too many instructions for {} bytes", context_.entry->buffer.size());
  return true;
}

void Renderer::take_from_common() {
  int64_t more = std::max<int64_t>(0, work_given_ - work_left_ - work_share_);
  if (const uint64_t text = context_.line.size(); text > text_share_)
    more += static_cast<int64_t>(kWorkPerTextByte * (text - text_share_));
  *common_work_ -= std::min(more, *common_work_);
}

}  // namespace tracewell::report
