#include "report/event_entry.h"

#include <algorithm>
#include <variant>

#include "model/change_text.h"
#include "report/mark_text.h"
#include "report/raw_entry.h"

namespace tracewell::report {
namespace {

constexpr uint16_t kOnHook = 0x0010, kOffHook = 0x0020, kLogWrapHook = 0x0050, kWrapHook = 0x0060,
                   kStepHook = 0x00b0, kMarkHook = 0x00c0;
// Of a step's subhook.
constexpr uint16_t kReads = 0x100, kWrites = 0x200, kNoValue = 0x400, kNoRegister = 0x800;
constexpr uint16_t kStamped = 0x8000, kGeneric = 0x4000;  // of the flags of 64 bits

/// The type that the 32-bit macros give an entry of so many words; all are time stamped.
uint16_t type_of(bool generic, size_t words) {
  if (generic) return 8;
  return words == 0 ? 9 : words == 1 ? 0xa : 0xe;
}

}  // namespace

Entry& EventEntry::make(const Event& event, uint32_t pid) {
  seq_ = event.seq;
  if (const auto* change = std::get_if<tracewell::Change>(&event.body))
    change_ = change_text(event, *change, pid);
  entry_ = {};
  entry_.environment_bits = 64;
  std::visit([this](const auto& body) { fill(body); }, event.body);
  entry_.tid = event.tid;
  entry_.cpu = event.cpu;
  entry_.time_ns = event.time_ns.value_or(0);
  entry_.log_offset = offset_;
  offset_ += raw_entry_bytes(entry_);
  return entry_;
}

void EventEntry::begin(uint16_t hook, uint16_t subhook, bool generic) {
  size_ = 0;
  more(entry_.word_bytes());
  entry_.endian = catalog_.endian;
  entry_.hook = hook;
  entry_.subhook = subhook;
  entry_.generic = generic;
  entry_.type = static_cast<uint16_t>(kStamped | (generic ? kGeneric : 0));
}

void EventEntry::word(uint64_t value) {
  const size_t size = entry_.word_bytes();
  store_uint(more(size), value, size, catalog_.endian);
}

/// As they stand, up to a whole word.
void EventEntry::raw(Bytes bytes) {
  bytes_as_they_are(bytes);
  const size_t padding = (0 - size_) % entry_.word_bytes();
  std::fill_n(more(padding), padding, uint8_t{0});
}

void EventEntry::bytes_as_they_are(Bytes bytes) {
  std::copy(bytes.begin(), bytes.end(), more(bytes.size()));
}

void EventEntry::text(std::string_view text) {
  bytes_as_they_are(as_bytes(text));
}

void EventEntry::value(Bytes bytes) {
  if (bytes.size() > 8) return raw(bytes);
  word(load_uint(bytes.data(), bytes.size(), catalog_.endian));
}

/// The hook word, now that the lengths are known.
void EventEntry::finish() {
  const size_t word = entry_.word_bytes();
  const size_t head = entry_.generic ? 2 * word : word;
  entry_.data_bytes = static_cast<uint32_t>(size_ < head ? 0 : size_ - head);
  const auto half = [&](size_t index, uint64_t number) {
    store_uint(buffer_.data() + index * 2, number, 2, catalog_.endian);
  };
  if (word == 4) {
    half(0, (entry_.hook & 0xfff0) | (entry_.type & 0xf));
    half(1, entry_.hook_data());
    entry_.stored_hookword =
        uint64_t{entry_.hook & 0xfff0u} << 16 | uint64_t{entry_.type & 0xfu} << 16 |
        entry_.hook_data();
  } else {
    const uint64_t length = std::min<uint64_t>(size_ - word, 0xffff);
    const uint64_t stored = std::min<uint64_t>(length + kStoredBehind, 0xffff);
    // Each half-word for itself: in little endian the first one is at the bottom.
    const uint64_t all =
        catalog_.endian == Endian::Little
            ? entry_.type | length << 16 | uint64_t{entry_.hook} << 32 |
                  uint64_t{entry_.subhook} << 48
            : uint64_t{entry_.type} << 48 | length << 32 | uint64_t{entry_.hook} << 16 |
                  entry_.subhook;
    store_uint(buffer_.data(), all, 8, catalog_.endian);
    entry_.stored_hookword =
        uint64_t{entry_.type} << 48 | stored << 32 | uint64_t{entry_.hook} << 16 | entry_.subhook;
  }
  entry_.buffer = {buffer_.data(), size_};
}

void EventEntry::fill(const Hook& hook) {
  entry_.environment_bits = hook.environment_bits == 32 ? 32 : 64;
  begin(hook.id, hook.subhook, hook.generic);
  const bool small = entry_.environment_bits == 32;
  if (small) entry_.type = type_of(hook.generic, hook.words.size());
  if (hook.type) entry_.type = static_cast<uint16_t>(*hook.type);
  for (const uint64_t value : hook.words) word(value);
  if (hook.generic && hook.words.empty()) word(0);
  bytes_as_they_are(hook.data);
  finish();
}

void EventEntry::fill(const Frame& frame) {
  begin(static_cast<uint16_t>(frame.tracepoint), 0, false);
  entry_.facility = false;
  for (const FrameBlock& block : frame.blocks) {
    if (block.kind == FrameBlock::Kind::Memory || block.kind == FrameBlock::Kind::Static)
      value(block.bytes);
    if (block.kind == FrameBlock::Kind::Variable) word(static_cast<uint64_t>(block.value));
  }
  if (const FrameBlock* block = find_block(frame, FrameBlock::Kind::Registers))
    registers(frame, *block);
  finish();
}

void EventEntry::registers(const Frame& frame, const FrameBlock& block) {
  const auto& all = catalog_.registers.registers;
  for (uint32_t index = 0; index < all.size(); ++index) {
    const uint64_t end = uint64_t{all[index].offset} + all[index].size_bytes;
    if (end <= block.bytes.size() && register_valid(frame, index))
      value(block.bytes.subspan(all[index].offset, all[index].size_bytes));
  }
}

void EventEntry::fill(const Step& step) {
  const auto first = std::find_if(step.memory.begin(), step.memory.end(), [](const auto& access) {
    return access.kind != Step::MemoryAccess::Kind::Nearby;
  });
  const bool any = first != step.memory.end();
  using Kind = Step::MemoryAccess::Kind;
  const Bytes bytes = !any                       ? Bytes()
                      : first->new_bytes.empty() ? first->old_bytes
                                                 : first->new_bytes;
  const Bytes changed = step.registers.empty() ? Bytes() : step.registers[0].value;
  uint16_t about = 0;
  if (any && first->kind != Kind::Write) about |= kReads;
  if (any && first->kind != Kind::Read) about |= kWrites;
  if (any && bytes.empty()) about |= kNoValue;
  if (!step.registers.empty() && changed.empty()) about |= kNoRegister;
  begin(kStepHook, static_cast<uint16_t>(about | (step.opcode.size() & 0xff)), false);
  word(step.pc);
  word(any ? first->address : 0);
  word(load_uint(bytes.data(), std::min<size_t>(bytes.size(), 8), catalog_.endian));
  word(load_uint(changed.data(), std::min<size_t>(changed.size(), 8), catalog_.endian));
  word(seq_);
  raw(step.opcode);
  finish();
}

void EventEntry::fill(const Mark& mark) {
  using Kind = MarkText::Kind;
  const MarkText said = read_mark(mark.text);
  switch (said.kind) {
    case Kind::TraceOn:
    case Kind::TraceOff:
      begin(said.kind == Kind::TraceOn ? kOnHook : kOffHook, static_cast<uint16_t>(said.number),
            !said.rest.empty());
      if (!said.rest.empty()) word(0);
      text(said.rest);
      break;
    case Kind::LogWrapped:
    case Kind::RecordsLost:
      begin(said.kind == Kind::LogWrapped ? kLogWrapHook : kWrapHook, 0,
            !said.rest.empty());
      word(said.number);
      text(said.rest);
      break;
    default:
      begin(kMarkHook, 0, true);
      word(mark.session ? 1 : 0);
      text(mark.text);
  }
  finish();
}

void EventEntry::fill(const Lost& lost) {
  begin(kWrapHook, 0, !lost.why.empty());
  word(lost.count);
  text(lost.why);
  finish();
}

void EventEntry::fill(const tracewell::Change&) {
  begin(kMarkHook, 0, true);
  word(0);
  text(change_);
  finish();
}

}  // namespace tracewell::report
