#include "agent/engine/collector.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ax/interpret.h"
#include "rsp/frames.h"

namespace tracewell::agent {

namespace {

constexpr size_t kMemoryHeaderBytes = 11;  // 'M', address, length
constexpr size_t kVariableBytes = 13;      // 'V', number, value
constexpr size_t kStaticHeaderBytes = 3;   // 'S', length
constexpr size_t kTextStep = 256;          // a string is read in pieces of this size
// A frame is put together in memory of our own, which a debugger shall not make us take at will.
constexpr uint64_t kFrameBytesMax = 64 << 20;

}  // namespace

std::string CollectFault::text() const {
  if (fault != ax::Fault::MemoryAccess) return ax::fault_text(fault);
  return fmt::format("{} at 0x{:x}", ax::fault_text(fault), address);
}

/// What an expression may do; see ax/interpret.h.
class Collector::Host {
 public:
  Host(Collector& collector, target::HitContext& hit, int64_t time_ns, bool may_record)
      : collector_(collector), hit_(hit), now_us_(time_ns / 1000), may_record_(may_record) {}

  Endian endian() const { return collector_.buffer_.endian(); }
  bool read_register(unsigned number, uint64_t& value) { return hit_.read_register(number, value); }
  bool read_memory(uint64_t address, void* to, size_t size) {
    target::HitContext::Range range{address, {static_cast<uint8_t*>(to), size}, 0};
    hit_.read_memory({&range, 1});
    if (range.got == size) return true;
    collector_.note(ax::Fault::MemoryAccess, range.address + range.got);
    return false;
  }
  uint64_t get_variable(unsigned number) {
    const int64_t value = collector_.variables_.value(number, now_us_, &hit_).value_or(0);
    got_ = {number, value};
    return static_cast<uint64_t>(value);
  }
  void set_variable(unsigned number, uint64_t value) {
    if (again_) return;
    const auto to = static_cast<int64_t>(value);
    if (got_ && got_->first == number && !acted_)
      again_ = !collector_.variables_.replace(number, got_->second, to);
    else
      collector_.variables_.set(number, to);
    acted_ |= !again_;
  }
  bool trace_memory(uint64_t address, uint64_t size) {
    return again_ || (recording() && collector_.add_memory(address, size));
  }
  bool trace_string(uint64_t address, uint64_t max) {
    return again_ || (recording() && collector_.add_text(hit_, address, max));
  }
  bool trace_variable(unsigned number) {
    if (again_) return true;
    if (!recording()) return false;
    const auto value = collector_.variables_.value(number, now_us_, &hit_);
    if (value) collector_.add_variable(number, *value);
    return value.has_value();
  }
  // Printing is for breakpoint commands (dprintf); GDB never puts it into a tracepoint.
  bool print(uint64_t, uint64_t, const char*, std::span<const uint64_t>) { return false; }

  /// Other threads may count in a variable by pads meanwhile, each in one step. Where one has come
  /// between our look at it and what we make of that, all is done again, as long as nothing else
  /// has been done; but not for ever, since a program may do so on purpose.
  ax::Outcome run(ax::Code code) {
    constexpr int kTriesMax = 1000;
    for (int tries = 0;; ++tries) {
      const CollectFault before = collector_.fault_;
      got_.reset();
      acted_ = tries == kTriesMax;
      again_ = false;
      const ax::Outcome outcome = ax::run(code, *this);
      if (!again_) return outcome;
      collector_.fault_ = before;
    }
  }

 private:
  bool recording() {
    acted_ = true;
    if (!may_record_) collector_.note(ax::Fault::NotRecorded);
    return may_record_;
  }
  Collector& collector_;
  target::HitContext& hit_;
  int64_t now_us_;
  bool may_record_;
  std::optional<std::pair<unsigned, int64_t>> got_;  // the variable that was looked at last
  bool acted_ = false, again_ = false;
};

void Collector::note(ax::Fault fault, uint64_t address) {
  if (fault_.ok()) fault_ = {fault, address};
}

Collector::Condition Collector::evaluate(target::HitContext& hit, Bytes condition,
                                         int64_t time_ns) {
  fault_ = {};
  Host host(*this, hit, time_ns, false);  // there is no frame yet that anything could go into
  const ax::Outcome outcome = host.run(condition);
  if (!outcome.ok()) note(outcome.fault);
  return {fault_, outcome.has_value && outcome.value != 0};
}

Collector::Collected Collector::collect(target::HitContext& hit,
                                        std::span<const rsp::Action> actions,
                                        const FrameRecord& record,
                                        const MarkerData* marker) {
  marker_ = marker;
  items_.clear();
  texts_.clear();
  registers_ = {};
  reserved_ = zeros_ = 0;
  overflow_ = false;
  fault_ = {};
  for (const rsp::Action& action : actions) run(hit, action, record.time_ns);
  if (overflow_) return {fault_, false, 0};
  lay_out();
  fill(hit);
  const bool fits = buffer_.append(record, {frame_.data(), bytes_});
  return {fault_, fits, fits ? buffer_.appended_bytes() : 0};
}

void Collector::run(target::HitContext& hit, const rsp::Action& action, int64_t time_ns) {
  using Kind = rsp::Action::Kind;
  if (action.kind == Kind::Registers) add_registers(hit);
  if (action.kind == Kind::Memory) {
    uint64_t base = 0;
    if (action.base_register >= 0 &&
        !hit.read_register(static_cast<uint32_t>(action.base_register), base))
      return note(ax::Fault::RegisterAccess);
    add_memory(base + action.offset, action.length);
  }
  if (action.kind == Kind::StaticData && marker_ != nullptr) add_marker(hit, time_ns);
  if (action.kind == Kind::Expression) {
    Host host(*this, hit, time_ns, true);
    const ax::Outcome outcome = host.run(action.code);
    if (!outcome.ok() && !overflow_) note(outcome.fault);
  }
}

// Nothing is asked for that the buffer could not hold even if it were empty.
bool Collector::reserve(uint64_t bytes, uint64_t zeros) {
  const uint64_t most = std::min(buffer_.size_bytes(), kFrameBytesMax);
  if (overflow_ || bytes > kFrameBytesMax || bytes - zeros > most ||
      reserved_ - zeros_ + bytes - zeros + rsp::kFrameHeaderBytes > most) {
    overflow_ = true;
    return false;
  }
  reserved_ += bytes;
  zeros_ += zeros;
  return true;
}

// The program's sums of addresses leave out the carry: behind its last byte comes its first.
uint64_t Collector::up_to_the_end(uint64_t address, uint64_t size) const {
  const uint64_t behind = last_address_ - (address & last_address_);
  return size == 0 ? 0 : std::min(size - 1, behind) + 1;
}

bool Collector::add_memory(uint64_t address, uint64_t size) {
  for (bool continues = false; size > 0; continues = true) {
    address &= last_address_;
    const uint32_t piece = static_cast<uint32_t>(
        up_to_the_end(address, std::min<uint64_t>(size, rsp::kMemoryBlockMax)));
    if (!reserve(kMemoryHeaderBytes + piece)) return false;
    items_.push_back({.continues = continues, .size = piece, .address = address});
    address += piece;
    size -= piece;
  }
  return true;
}

// The length of a string is only known by reading it, so its bytes are taken right then: another
// thread may have changed them by the end of the hit.
bool Collector::add_text(target::HitContext& hit, uint64_t address, uint64_t max) {
  const size_t start = texts_.size();
  bool ended = false, unreadable = false;
  while (!ended && !unreadable && texts_.size() - start < max) {
    const size_t at = texts_.size();
    const uint64_t from = (address + (at - start)) & last_address_;
    const size_t piece = up_to_the_end(from, std::min<uint64_t>(kTextStep, max - (at - start)));
    if (at + piece > std::min(buffer_.size_bytes(), kFrameBytesMax)) return reserve(UINT64_MAX);
    texts_.resize(at + piece);
    target::HitContext::Range range{from, {texts_.data() + at, piece}, 0};
    hit.read_memory({&range, 1});
    size_t got = range.got;
    if (const void* nul = std::memchr(texts_.data() + at, 0, got)) {
      got = static_cast<const uint8_t*>(nul) - (texts_.data() + at) + 1;
      ended = true;
    }
    unreadable = !ended && got < piece;
    texts_.resize(at + got);
  }
  const size_t size = texts_.size() - start;
  const size_t first = items_.size();
  if (!add_memory(address, size)) return false;
  for (size_t i = first, at = start; i < items_.size(); at += items_[i++].size) {
    items_[i].text = true;
    items_[i].value = static_cast<int64_t>(at);
  }
  if (unreadable) note(ax::Fault::MemoryAccess, (address + size) & last_address_);
  return !unreadable;
}

void Collector::add_variable(uint32_t number, int64_t value) {
  if (!reserve(kVariableBytes)) return;
  items_.push_back({.kind = FrameBlock::Kind::Variable, .address = number, .value = value});
}

void Collector::add_registers(target::HitContext& hit) {
  if (!registers_.empty()) return;  // one block says it all
  const Bytes block = hit.registers();
  if (block.size() != buffer_.register_block_bytes()) return note(ax::Fault::RegisterAccess);
  if (!reserve(1 + block.size(), block.size())) return;
  registers_ = block;
  items_.push_back({.kind = FrameBlock::Kind::Registers});
}

void Collector::add_marker(target::HitContext& hit, int64_t time_ns) {
  const size_t start = texts_.size();
  Host host(*this, hit, time_ns, false);
  const CollectFault before = fault_;
  auto out = std::back_inserter(texts_);
  for (const MarkerData::Argument& one : marker_->arguments()) {
    if (texts_.size() != start) texts_.push_back(' ');
    const ax::Outcome outcome = one.operand.code.empty() ? ax::Outcome()
                                                         : host.run(one.operand.code);
    if (!outcome.has_value)
      fmt::format_to(out, "{}=?", one.name);
    else if (one.operand.is_signed)
      fmt::format_to(out, "{}={}", one.name, static_cast<int64_t>(outcome.value));
    else
      fmt::format_to(out, "{}={:#x}", one.name, outcome.value);
  }
  texts_.push_back(0);
  fault_ = before;
  const size_t size = std::min(texts_.size() - start, rsp::kMemoryBlockMax);
  if (!reserve(kStaticHeaderBytes + size)) return;
  items_.push_back({.kind = FrameBlock::Kind::Static,
                    .text = true,
                    .size = static_cast<uint32_t>(size),
                    .value = static_cast<int64_t>(start)});
}

size_t Collector::Item::encoded_bytes(size_t register_bytes) const {
  if (kind == FrameBlock::Kind::Registers) return 1 + register_bytes;
  if (kind == FrameBlock::Kind::Variable) return kVariableBytes;
  if (kind == FrameBlock::Kind::Static) return kStaticHeaderBytes + size;
  return kMemoryHeaderBytes + size;
}

// Writes all blocks but the memory that is still to be read, and notes where that goes.
void Collector::lay_out() {
  if (frame_.size() < reserved_) frame_.resize(reserved_);
  ranges_.clear();
  const Endian endian = buffer_.endian();
  uint8_t* at = frame_.data();
  for (const Item& item : items_) {
    switch (item.kind) {
      case FrameBlock::Kind::Registers:
        *at = 'R';
        std::memcpy(at + 1, registers_.data(), registers_.size());
        break;
      case FrameBlock::Kind::Variable:
        *at = 'V';
        store_uint(at + 1, item.address, 4, endian);
        store_uint(at + 5, static_cast<uint64_t>(item.value), 8, endian);
        break;
      case FrameBlock::Kind::Static:
        *at = 'S';
        store_uint(at + 1, item.size, 2, endian);
        std::memcpy(at + kStaticHeaderBytes, texts_.data() + item.value, item.size);
        break;
      case FrameBlock::Kind::Memory:
        *at = 'M';
        store_uint(at + 1, item.address, 8, endian);
        store_uint(at + 9, item.size, 2, endian);
        if (item.text) std::memcpy(at + kMemoryHeaderBytes, texts_.data() + item.value, item.size);
        else ranges_.push_back({item.address, {at + kMemoryHeaderBytes, item.size}, 0});
    }
    at += item.encoded_bytes(registers_.size());
  }
  bytes_ = static_cast<size_t>(at - frame_.data());
}

void Collector::fill(target::HitContext& hit) {
  if (ranges_.empty()) return;
  hit.read_memory(ranges_);
  const auto cut = std::ranges::find_if(
      ranges_, [](const auto& range) { return range.got < range.into.size(); });
  if (cut == ranges_.end()) return;
  note(ax::Fault::MemoryAccess, cut->address + cut->got);
  close_gaps();
}

// Some memory could not be read: shortens its blocks, drops those that are empty or lie behind the
// cut of the same range, and moves the rest up.
void Collector::close_gaps() {
  const uint8_t* from = frame_.data();
  uint8_t* to = frame_.data();
  size_t next_range = 0;
  bool cut = false;
  for (const Item& item : items_) {
    const size_t whole = item.encoded_bytes(registers_.size());
    size_t keep = whole;
    if (item.kind == FrameBlock::Kind::Memory && !item.text) {
      const size_t got = ranges_[next_range++].got;
      const bool dropped = got == 0 || (item.continues && cut);
      cut = got < item.size || dropped;
      keep = dropped ? 0 : kMemoryHeaderBytes + got;
    }
    std::memmove(to, from, keep);
    if (keep < whole && keep > 0)
      store_uint(to + 9, keep - kMemoryHeaderBytes, 2, buffer_.endian());
    to += keep;
    from += whole;
  }
  bytes_ = static_cast<size_t>(to - frame_.data());
}

}  // namespace tracewell::agent
