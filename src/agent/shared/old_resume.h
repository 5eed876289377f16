// c, C, s, S: the packets from before vCont. They start the thread that Hc named, or all.
#pragma once

#include "agent/session/session.h"

namespace tracewell::agent {

/// `body` is `<signal>` for C and S, empty otherwise. A resume address (`c<addr>`, `C<sig>;<addr>`)
/// is refused: no client of ours sends one, and it would be a jump behind the user's back.
void old_resume(Session& session, bool step, bool with_signal, std::string_view body, Reply& reply);

}  // namespace tracewell::agent
