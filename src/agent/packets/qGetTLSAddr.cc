// qGetTLSAddr:<thread-id>,<offset>,<link map>: where a thread-local variable of a module is for a
// thread. An error stands for a block that the thread has not got yet, as well. No libthread_db is
// needed; but who set `libthread-db-search-path` to folders without one is answered an error, as by
// gdbserver.
#include "agent/packets.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "rsp/text.h"

namespace tracewell::agent {

void on_qGetTLSAddr(Session& session, std::string_view body, Reply& reply) {
  const auto words = split(body, ',');
  if (words.size() != 3) return reply.error(1);
  const auto id = rsp::parse_thread_id(words[0]);
  const auto offset = parse_hex(words[1]), link_map = parse_hex(words[2]);
  const target::ThreadInfo* thread = id && id->tid > 0 ? session.find_thread(*id) : nullptr;
  if (!thread || !offset || !link_map) return reply.error(1);
  if (session.options.thread_locals)
    if (auto allowed = session.options.thread_locals(); !allowed)
      return reply.error(allowed.error());
  auto address = session.target.thread_locals()->address(thread->tid, *link_map, *offset);
  if (address) reply.text(rsp::hex_number(*address));
  else reply.error(address.error());
}

}  // namespace tracewell::agent
