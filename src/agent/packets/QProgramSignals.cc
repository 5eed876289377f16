// QProgramSignals:<signal>;…: signals that the program may see. The debugger decides about each one
// that is told to it, and those that are not told are passed, so nothing is left to do.
#include "agent/packets.h"
#include "base/hex.h"
#include "base/text.h"

namespace tracewell::agent {

void on_QProgramSignals(Session&, std::string_view body, Reply& reply) {
  for (std::string_view word : split(body, ';'))
    if (!word.empty() && !parse_hex(word)) return reply.error(1);
  reply.ok();
}

}  // namespace tracewell::agent
