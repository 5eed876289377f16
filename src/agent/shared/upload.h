// Lists that a debugger fetches piece by piece, without saying where it is: qTfP and qTsP, qTfV and
// qTsV. Pieces are text of the protocol, without control characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/engine/markers.h"
#include "agent/session/session.h"

namespace tracewell::agent {

/// Starts again, with these pieces.
void begin_upload(Session& session, std::string_view name, std::vector<std::string> pieces);
/// The next piece; "l" when there are no more, or none was begun.
std::string next_upload(Session& session, std::string_view name);

/// A marker in qTfSTM, qTsSTM and qTSTMat, `<addr>:<hex id>:<hex extra>`.
std::string marker_text(const Marker& marker);

}  // namespace tracewell::agent
