// QTNotes:<type>:<hex text>;…: who traces, why, and why it was stopped (which GDB sends after
// QTStop). Types that we do not know are skipped.
#include "agent/packets.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_QTNotes(Session& session, std::string_view body, Reply& reply) {
  std::vector<std::pair<std::string_view, std::string>> notes;
  for (std::string_view item : split(body, ';')) {
    if (item.empty()) continue;  // behind the last `;`
    const size_t colon = item.find(':');
    if (colon == item.npos) return reply.error({Errc::InvalidArgument, "note without `:`", {}});
    auto text = text_from_hex(item.substr(colon + 1));
    if (!text) return reply.error({Errc::InvalidArgument, "note that is not hexadecimal", {}});
    notes.emplace_back(item.substr(0, colon), std::move(*text));
  }
  for (auto& [type, text] : notes) session.trace->control()->set_note(type, std::move(text));
  reply.ok();
}

}  // namespace tracewell::agent
