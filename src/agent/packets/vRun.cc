// vRun;<program>[;<argument>]…: starts a program. An empty name means the one before.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_vRun(Session& session, std::string_view body, Reply& reply) {
  std::vector<std::string> argv;
  for (std::string_view word : split(body, ';')) {
    auto text = text_from_hex(word);
    if (!text || text->find('\0') != std::string::npos) return reply.error(1);
    argv.push_back(*std::move(text));
  }
  std::vector<std::string>& known = session.options.launch.argv;
  if (argv[0].empty()) {
    if (known.empty()) return reply.error({Errc::InvalidArgument, "no program was named", {}});
    argv[0] = known[0];
  }
  known = std::move(argv);
  auto event = launch(session);
  if (event) reply.text(session.stop_reply(*event));
  else reply.error(event.error());
}

}  // namespace tracewell::agent
