#include "agent/session/reply.h"

#include "base/text/hex.h"
#include "base/text/text.h"
#include "rsp/framing.h"
#include "rsp/text.h"

namespace tracewell::agent {

Reply& Reply::hex(Bytes bytes) {
  append_hex(out_, bytes);
  return *this;
}

Reply& Reply::binary(Bytes bytes) {
  out_ += rsp::escape(bytes);
  return *this;
}

void Reply::error(int code) { out_ = "E" + rsp::hex_number(static_cast<uint8_t>(code), 2); }

void Reply::error(const Error& error) {
  out_ = "E." + rsp::plain_text(printable(error.text()));
}

void Reply::failed(const Error& why) {
  why.code == Errc::Unsupported ? error(why) : error(1);
}

void Reply::status(const Status& status) {
  if (status) ok();
  else error(status.error());
}

}  // namespace tracewell::agent
