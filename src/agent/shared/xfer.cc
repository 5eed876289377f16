#include "agent/shared/xfer.h"

#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void xfer_read(Session& session, std::string_view object, std::string_view body, Reply& reply,
               const std::function<Result<std::string>(std::string_view)>& make) {
  auto request = rsp::parse_qxfer(std::string(object) + ":read:" + std::string(body));
  if (!request) return reply.error(1);
  const std::string key = std::string(object) + ':' + request->annex;
  auto document = session.documents.find(key);
  if (request->offset == 0 || document == session.documents.end()) {
    auto made = make(request->annex);
    if (!made) return reply.error(1);
    // A client reads one document after the other; a hostile one shall not make us keep many.
    if (session.documents.size() > 16) session.documents.clear();
    document = session.documents.insert_or_assign(key, *std::move(made)).first;
  }
  reply.text(rsp::qxfer_reply(document->second, request->offset, request->length,
                              Session::kPacketBytesMax));
}

Result<target::Pid> annex_process(const Session& session, std::string_view annex) {
  if (annex.empty()) return current_process(session, annex);
  const auto pid = parse_pid(annex);
  if (!pid || !session.find_thread({*pid, 0}))
    return Error{Errc::NotFound, "no such process", {}};
  return *pid;
}

Result<target::Pid> current_process(const Session& session, std::string_view annex) {
  auto pid = session.current_pid();
  if (!annex.empty() || !pid) return Error{Errc::NotFound, "no such object", {}};
  return *pid;
}

}  // namespace tracewell::agent
