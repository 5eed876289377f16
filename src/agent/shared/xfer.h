// What the qXfer packets share.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "agent/session/session.h"
#include "rsp/qxfer.h"

namespace tracewell::agent {

/// Answers `qXfer:<object>:read:<body>`. The document is made when its beginning is asked for, and
/// kept for the pieces that follow. `make` gets the annex.
void xfer_read(Session& session, std::string_view object, std::string_view body, Reply& reply,
               const std::function<Result<std::string>(std::string_view annex)>& make);

/// The process that an annex names (hex), or the current one for an empty annex.
Result<target::Pid> annex_process(const Session& session, std::string_view annex);
/// The current process, for objects whose annex must be empty.
Result<target::Pid> current_process(const Session& session, std::string_view annex);

}  // namespace tracewell::agent
