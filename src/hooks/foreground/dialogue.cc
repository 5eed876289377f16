#include "hooks/foreground/dialogue.h"

#include "hooks/session/session.h"

namespace tracewell::hooks {
namespace {

constexpr const char* kDialogueWords =
    "trcon     go on with tracing\ntrcoff    interrupt it\n!COMMAND  run a command\n"
    "q, quit   end the trace\n";

}  // namespace

Dialogue::Answer Dialogue::answer(const std::string& line) {
  Answer out;
  if (line == "q" || line == "quit" || line == "trcstop") {
    out.ends = true;
  } else if (line == "trcon" || line == "trcoff") {
    out.status = switch_tracing(control_, channel_, line == "trcon");
  } else if (line.starts_with('!')) {
    const auto done = run_(line.substr(1));
    if (done.ok())
      out.signal = done->signal;
    else
      out.status = done.error();
    out.ends = out.signal != 0;
  } else if (!line.empty()) {
    out.text = kDialogueWords;
  }
  return out;
}

}  // namespace tracewell::hooks
