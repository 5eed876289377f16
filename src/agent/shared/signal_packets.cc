#include "agent/shared/signal_packets.h"

#include "base/text/hex.h"
#include "base/text/text.h"
#include "rsp/signals.h"

namespace tracewell::agent {

std::optional<std::vector<int>> parse_signals(std::string_view body) {
  std::vector<int> signals;
  for (std::string_view word : split(body, ';')) {
    if (word.empty()) continue;
    auto number = parse_hex(word);
    if (!number || *number > 255) return std::nullopt;
    // Signals that only other systems have come with the rest. GDB's SIGPOLL is one of them here:
    // Linux's is reported as SIGIO, and it is SIGIO's entry that decides.
    const auto host = rsp::linux_signal_from_gdb(static_cast<int>(*number));
    if (host && rsp::gdb_signal_from_linux(*host) == static_cast<int>(*number))
      signals.push_back(*host);
  }
  return signals;
}

}  // namespace tracewell::agent
