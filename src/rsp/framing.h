// Packets on the wire: framing, checksums, escapes and run-length encoding, with no I/O.
//
// The manual ("Overview", "Packet Acknowledgment", "Binary Data", "Notification Packets" in the
// Remote Protocol appendix) has the rules; docs/protocol/framing.md has ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell::rsp {

/// One thing that arrived.
struct Item {
  enum class Kind : uint8_t {
    Packet,        // payload holds the body; answer '+', then the reply
    Notification,  // payload holds the body after '%'; never acknowledged
    BadPacket,     // a wrong or malformed checksum or run; answer '-'
    Oversized,     // a sound packet longer than the limit; answer '+', then an error reply
    Ack,           // '+'
    Nak,           // '-': send the last packet again
    Interrupt,     // byte 0x03 between packets
    Junk,          // a byte that no debugger sends there; only if asked for
    TooSoon,       // a sound packet, while in doubt, that must not be obeyed; only if asked for
  };
  Kind kind = Kind::Packet;
  /// Packet and Notification: runs are expanded (if asked for), `}` escapes are left alone, because
  /// only the packet's own grammar says where binary data begins. See unescape().
  std::string payload;
};

/// Which way the bytes come. Only a stub's packets may hold runs: in a client's packets `*` is a
/// plain character.
enum class Sender : uint8_t { Client, Stub };

/// Cuts a byte stream into Items. Bytes may be split and joined anywhere. Junk between packets is
/// skipped, or told. Memory is bounded by the limit and by what is fed but not yet taken.
///
/// Where junk is told, others than debuggers may be the sender, and the stream is in doubt until a
/// sound packet has come in which one of `,:;=?` stands with no blank before it. No request of
/// HTTP/1 begins so: its method holds none of them, and a blank follows it. The rule stands in
/// docs/protocol/framing.md.
class Decoder {
 public:
  static constexpr size_t kDefaultLimit = 1 << 20;
  /// Bytes that may come in doubt, up to the first that a method cannot hold.
  static constexpr size_t kDoubtfulBytesMax = 1024;

  /// `limit`: longest payload in bytes, after the expansion of runs.
  explicit Decoder(Sender sender, size_t limit = kDefaultLimit) : sender_(sender), limit_(limit) {}

  /// Copies the bytes.
  void feed(Bytes bytes);
  void feed(std::string_view text) { feed(as_bytes(text)); }
  /// The next whole Item; nullopt = feed more.
  std::optional<Item> next();
  /// From the next Item on: checksums are not compared, '+' and '-' are junk (QStartNoAckMode).
  void set_no_ack(bool on) { no_ack_ = on; }
  bool no_ack() const { return no_ack_; }
  /// To be called before the first Item is taken. Junk between packets is an Item instead of being
  /// skipped. Line ends and telnet's BREAK, which GDB sends for `set remote interrupt-sequence
  /// BREAK` and `BREAK-g`, are skipped still. In doubt line ends are Junk, too, and so is what else
  /// a debugger does not begin with: notifications, broken packets, blanks in packets.
  void tell_junk(bool on) { tell_junk_ = in_doubt_ = on; }
  /// May what has been taken so far be the beginning of a web page's request?
  bool in_doubt() const { return in_doubt_; }

 private:
  enum class State : uint8_t { Between, Body, Run, SumHigh, SumLow };

  bool take(uint8_t byte, Item& item);  // true: `item` is whole
  bool between(uint8_t byte, Item& item);
  bool junk(uint8_t byte, Item& item);
  bool is_foreign(uint8_t byte);
  bool finish(int low, Item& item);
  void begin(bool notification);
  void body(uint8_t byte);
  void run(uint8_t byte);
  void append(size_t count, char c);

  Sender sender_;
  size_t limit_;
  bool no_ack_ = false;
  bool tell_junk_ = false;
  bool in_doubt_ = false;
  bool is_no_method_ = false;  // this packet
  size_t doubtful_bytes_ = 0;
  uint8_t skipped_ = 0;  // the byte before, if it was skipped
  State state_ = State::Between;
  bool notification_ = false;
  bool oversized_ = false;
  bool malformed_ = false;
  uint8_t sum_ = 0;
  int high_ = 0;  // first checksum digit, -1 if it was none
  std::string payload_;
  std::vector<uint8_t> pending_;
  size_t at_ = 0;  // into pending_
};

/// Why a packet is TooSoon: for an error reply.
inline constexpr std::string_view kTooSoonText =
    "this may be a request of a web page: begin with qSupported:, or another packet that has one "
    "of , : ; = ? in it";

/// `$payload#cs`. The payload is what goes between: escape() its binary part first. With
/// `run_length` (a stub's replies only) runs are shortened; then the payload must not hold a bare
/// `*` either.
std::string frame(std::string_view payload, bool run_length);

/// Text that may stand in any payload: what framing would misread (`#`, `$`, `}`, `*`) and what
/// is not printable ASCII becomes `?`. For error texts that name files and other outside things.
std::string plain_text(std::string_view text);

/// Binary data for a payload: `#`, `$`, `}` and `*` become `}` and the byte xor 0x20.
std::string escape(Bytes bytes);
/// As much of `bytes` as fits `limit` characters when escaped; `used` gets the number of bytes.
std::string escape_prefix(Bytes bytes, size_t limit, size_t& used);
/// Undoes it. Protocol if a `}` is the last character.
Result<std::vector<uint8_t>> unescape(std::string_view text);

}  // namespace tracewell::rsp
