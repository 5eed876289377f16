#include "agent/session/inbox.h"

namespace tracewell::agent {

/// Counted over all packets: many that are short take long, too.
Status Inbox::go_on(uint64_t bytes) {
  worked_bytes_ += bytes;
  if (worked_bytes_ >= kLookBytes && !unwanted_) {
    worked_bytes_ = 0;
    unwanted_ = !is_wanted();
    if (!unwanted_ && hear_interrupt()) return {Errc::Target, "interrupted"};
  }
  if (unwanted_) return {Errc::Target, "the connection or the server is to end"};
  return {};
}

bool Inbox::is_wanted() {
  if (ends_()) return false;
  if (!look_up_) return true;
  const auto more = look_up_(ahead_bytes_ < kAheadBytesMax);
  if (!more) return false;
  ahead_bytes_ += more->size();
  decoder.feed(as_bytes(*more));
  return true;
}

/// Not behind another packet, which has its turn first: it may change how the rest is read.
bool Inbox::hear_interrupt() {
  using Kind = rsp::Item::Kind;
  while (!ahead_) {
    auto item = decoder.next();
    if (!item) return false;
    if (item->kind == Kind::Interrupt) return true;
    if (item->kind != Kind::Ack && item->kind != Kind::Nak) ahead_ = std::move(item);
  }
  return false;
}

}  // namespace tracewell::agent
