// qTfP: the first piece of the tracepoints' definitions; qTsP has the others, `l` ends them.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "agent/packets.h"
#include "agent/shared/upload.h"
#include "rsp/definitions.h"
#include "rsp/for_gdb.h"

namespace tracewell::agent {
namespace {

constexpr size_t kInstructionMax = 15;

/// Can the debugger read the instruction of a fast tracepoint? Also asked of a recording, where
/// there is code only if somebody gave an image.
bool has_code(Session& session, const TracepointDef& definition) {
  const auto pid = session.current_pid();
  if (!definition.fast_length || !pid) return false;
  std::array<uint8_t, kInstructionMax> code;
  const size_t wanted =
      *definition.fast_length == 0 ? code.size() : std::min(*definition.fast_length, code.size());
  return session.target.read_memory(*pid, definition.address, {code.data(), wanted}) == wanted;
}

/// The debugger makes tracepoints of the first upload, unless it has defined them itself. Later
/// ones are for trace files (`tsave`), for which GDB does not ask qTMinFTPILen.
bool takes_fast(const Session& session, const TracepointDef& definition) {
  constexpr uint64_t kTraceFileMin = 5;
  return !session.knows_tracepoints || definition.fast_length.value_or(0) >= kTraceFileMin;
}

/// GDB makes tracepoints of what it is sent beginning with the last, under numbers of its own, and
/// believes from then on that the target has those numbers. They agree where numbers begin with 1
/// and have no gap, if the first comes last. What it is sent for a trace file it turns around as it
/// writes that, and once more as it reads it.
std::vector<TracepointDef> in_order(std::vector<TracepointDef> definitions, bool for_file) {
  const auto place = [](const TracepointDef& one) { return std::pair(one.number, one.address); };
  if (for_file) std::ranges::sort(definitions, std::less<>(), place);
  else std::ranges::sort(definitions, std::greater<>(), place);
  return definitions;
}

}  // namespace

void on_qTfP(Session& session, std::string_view, Reply& reply) {
  std::vector<std::string> pieces;
  const bool for_file = session.knows_tracepoints;
  for (const TracepointDef& definition : in_order(session.trace->tracepoints(), for_file)) {
    const rsp::GdbMeans means{
        .symbols = session.client.symbols,
        .code = takes_fast(session, definition) && has_code(session, definition),
        // Hex takes two characters a byte; what else a piece says fits in the rest.
        .piece_bytes = Session::kPacketBytesMax / 4};
    for (std::string& piece :
         rsp::format_pieces(rsp::for_gdb(definition, means), means.piece_bytes))
      pieces.push_back(std::move(piece));
  }
  session.knows_tracepoints = true;
  begin_upload(session, "qTsP", std::move(pieces));
  reply.text(next_upload(session, "qTsP"));
}

}  // namespace tracewell::agent
