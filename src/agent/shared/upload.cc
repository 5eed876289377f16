// The pieces that are left are kept among the session's documents, the last one first, a line each:
// the next one is cut off the end.
#include "agent/shared/upload.h"

namespace tracewell::agent {

void begin_upload(Session& session, std::string_view name, std::vector<std::string> pieces) {
  std::string& left = session.documents[std::string(name)];
  left.clear();
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) left += '\n' + *piece;
}

std::string next_upload(Session& session, std::string_view name) {
  const auto at = session.documents.find(name);
  if (at == session.documents.end() || at->second.empty()) return "l";
  std::string& left = at->second;
  const size_t line = left.rfind('\n');
  std::string piece = left.substr(line + 1);
  left.resize(line);
  return piece;
}

}  // namespace tracewell::agent
