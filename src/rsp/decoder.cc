#include "rsp/framing.h"

#include <algorithm>
#include <utility>

#include "base/text/hex.h"

namespace tracewell::rsp {
namespace {

constexpr uint8_t kInterruptByte = 0x03;
constexpr uint8_t kTelnetCommand = 0xff, kTelnetBreak = 0xf3;
constexpr int kCountBias = 29;  // a repeat count of n is sent as the character n + 29
constexpr uint8_t kCountMin = 32;
constexpr uint8_t kCountMax = 126;

/// Characters of packets that the method of a request cannot hold (RFC 9110, "Tokens").
constexpr std::string_view kInNoMethod = ",:;=?";
/// What debuggers say before the first packet that ends doubt, and what changes nothing but the
/// connection.
constexpr std::string_view kHarmless[] = {
    "!", "QListThreadsInStopReply", "QStartNoAckMode", "QThreadSuffixSupported", "qAttached", "qC",
    "qHostInfo", "qOffsets", "qSupported", "qTStatus", "qTfV", "qTsV", "vMustReplyEmpty"};

bool is_harmless(std::string_view payload) {
  return payload.starts_with("Hc") || payload.starts_with("Hg") ||
         std::ranges::find(kHarmless, payload) != std::end(kHarmless);
}

}  // namespace

void Decoder::feed(Bytes bytes) {
  if (at_ > pending_.size() / 2) {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(at_));
    at_ = 0;
  }
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
}

std::optional<Item> Decoder::next() {
  Item item;
  while (at_ < pending_.size())
    if (take(pending_[at_++], item)) return item;
  pending_.clear();
  at_ = 0;
  return std::nullopt;
}

bool Decoder::take(uint8_t byte, Item& item) {
  if (in_doubt_ && is_foreign(byte)) {
    state_ = State::Between;
    item.kind = Item::Kind::Junk;
    return true;
  }
  // `$` never stands inside a packet, escaped or not: whoever sent it gave up the packet before.
  if (byte == '$' && state_ != State::Between) {
    begin(false);
    return false;
  }
  switch (state_) {
    case State::Between: return between(byte, item);
    case State::Body: body(byte); return false;
    case State::Run: run(byte); return false;
    case State::SumHigh:
      high_ = hex_digit(static_cast<char>(byte));
      state_ = State::SumLow;
      return false;
    case State::SumLow: return finish(hex_digit(static_cast<char>(byte)), item);
  }
  return false;
}

/// A blank ends the method of a request, so none may come in doubt. Of a method's own characters
/// few come before a debugger has said more.
bool Decoder::is_foreign(uint8_t byte) {
  const bool within = state_ != State::Between;
  if (within && is_no_method_) return byte == '$';
  if (++doubtful_bytes_ > kDoubtfulBytesMax) return true;
  if (!within) return byte == '%' || byte == '\n' || byte == '\r';
  is_no_method_ =
      state_ == State::Body && kInNoMethod.find(static_cast<char>(byte)) != kInNoMethod.npos;
  return byte <= ' ' || byte >= 0x7f || byte == '$';
}

bool Decoder::between(uint8_t byte, Item& item) {
  switch (byte) {
    case '$': begin(false); return false;
    case '%': begin(true); return false;
    case '+': item.kind = Item::Kind::Ack; return !no_ack_;
    case '-': item.kind = Item::Kind::Nak; return !no_ack_;
    case kInterruptByte: item.kind = Item::Kind::Interrupt; return true;
    default: return junk(byte, item);
  }
}

bool Decoder::junk(uint8_t byte, Item& item) {
  const uint8_t before = std::exchange(skipped_, byte);
  if (!tell_junk_ || byte == '\n' || byte == '\r' || byte == kTelnetCommand) return false;
  if (byte == kTelnetBreak && before == kTelnetCommand) return false;
  if (byte == 'g' && before == kTelnetBreak) return false;  // SysRq
  item.kind = Item::Kind::Junk;
  return true;
}

void Decoder::begin(bool notification) {
  state_ = State::Body;
  skipped_ = 0;
  notification_ = notification;
  oversized_ = malformed_ = is_no_method_ = false;
  sum_ = 0;
  payload_.clear();
}

void Decoder::body(uint8_t byte) {
  if (byte == '#') {
    state_ = State::SumHigh;
    return;
  }
  sum_ = static_cast<uint8_t>(sum_ + byte);
  if (byte == '*' && sender_ == Sender::Stub)
    state_ = State::Run;
  else
    append(1, static_cast<char>(byte));
}

void Decoder::run(uint8_t byte) {
  state_ = State::Body;
  // As a count, `#` is forbidden; read as one, it would swallow the end of a cut packet.
  const bool is_count = byte >= kCountMin && byte <= kCountMax && byte != '#';
  const bool has_first = oversized_ || !payload_.empty();
  if (!is_count || !has_first) malformed_ = true;
  if (byte == '#') return body(byte);
  sum_ = static_cast<uint8_t>(sum_ + byte);
  if (!malformed_ && !oversized_) append(static_cast<size_t>(byte - kCountBias), payload_.back());
}

void Decoder::append(size_t count, char c) {
  if (oversized_ || count > limit_ - payload_.size()) {
    oversized_ = true;
    payload_.clear();
    return;
  }
  payload_.append(count, c);
}

bool Decoder::finish(int low, Item& item) {
  state_ = State::Between;
  const bool digits = high_ >= 0 && low >= 0;
  const bool unchecked = no_ack_ && !in_doubt_;
  const bool sum_right = digits && (unchecked || (high_ << 4 | low) == sum_);
  const bool sound = sum_right && !malformed_;
  if (in_doubt_) {
    in_doubt_ = !(sound && is_no_method_);
    const bool obeyed = sound && (is_no_method_ || is_harmless(payload_));
    if (!obeyed) {
      item.kind = sound ? Item::Kind::TooSoon : Item::Kind::Junk;
      payload_.clear();
      return true;
    }
  }
  if (notification_ && (!sound || oversized_)) return false;
  item.kind = !sound         ? Item::Kind::BadPacket
              : oversized_   ? Item::Kind::Oversized
              : notification_ ? Item::Kind::Notification
                             : Item::Kind::Packet;
  if (sound && !oversized_) item.payload = std::move(payload_);
  payload_.clear();
  return true;
}

}  // namespace tracewell::rsp
