// What the debugger sends, in its turn; and what it sends while a packet takes long to answer, of
// which Ctrl-C alone is heard at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "rsp/framing.h"

namespace tracewell::agent {

class Inbox {
 public:
  /// Work after which it is looked whether there is anything new. Of a recorded run, so much memory
  /// may take a second to find out.
  static constexpr uint64_t kLookBytes = 1 << 16;
  /// What is taken of the debugger while one packet is answered; the rest waits where it is.
  static constexpr size_t kAheadBytesMax = 1 << 20;
  using LookUp = std::function<std::optional<std::string>(bool more)>;  // SessionOptions::look_up

  /// `limit`: rsp::Decoder's. `ends`: is the server to end? `look_up` may be empty.
  Inbox(size_t limit, LookUp look_up, std::function<bool()> ends)
      : decoder(rsp::Sender::Client, limit),
        look_up_(std::move(look_up)),
        ends_(std::move(ends)) {}

  void feed(Bytes bytes) {
    ahead_bytes_ = 0;
    decoder.feed(bytes);
  }
  std::optional<rsp::Item> next() {
    return ahead_ ? std::exchange(ahead_, std::nullopt) : decoder.next();
  }
  /// So many bytes are to be worked through for the packet that was taken last. An error: Ctrl-C
  /// has come, or nobody waits for the answer any more.
  Status go_on(uint64_t bytes);

  rsp::Decoder decoder;

 private:
  bool is_wanted();
  bool hear_interrupt();

  LookUp look_up_;
  std::function<bool()> ends_;
  std::optional<rsp::Item> ahead_;  // came while a packet was being answered, and has its turn next
  size_t ahead_bytes_ = 0;
  uint64_t worked_bytes_ = 0;  // since it was last looked
  bool unwanted_ = false;
};

}  // namespace tracewell::agent
