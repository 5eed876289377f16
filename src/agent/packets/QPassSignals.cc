// QPassSignals:<signal>;<signal>…: signals (GDB's numbers) to deliver without a stop.
#include "agent/packets.h"
#include "base/hex.h"
#include "base/text.h"
#include "rsp/signals.h"

namespace tracewell::agent {

void on_QPassSignals(Session& session, std::string_view body, Reply& reply) {
  std::vector<int> passed;
  for (std::string_view word : split(body, ';')) {
    if (word.empty()) continue;
    auto number = parse_hex(word);
    if (!number || *number > 255) return reply.error(1);
    // Signals that only other systems have come with the rest. GDB's SIGPOLL is one of them here:
    // Linux's is reported as SIGIO, and it is SIGIO's entry that decides.
    const auto host = rsp::linux_signal_from_gdb(static_cast<int>(*number));
    if (host && rsp::gdb_signal_from_linux(*host) == static_cast<int>(*number))
      passed.push_back(*host);
  }
  session.target.signals()->pass_signals(passed);
  reply.ok();
}

}  // namespace tracewell::agent
