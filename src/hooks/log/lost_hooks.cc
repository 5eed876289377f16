#include "hooks/log/lost_hooks.h"

#include <algorithm>

#include "formats/hooklog/packets.h"
#include "model/lost_count.h"
#include "model/problem.h"

namespace tracewell::hooks {

LostHooks lost_hooks(const Folder& log, const std::function<bool()>& stop) {
  LostHooks out;
  ProblemLog unused;
  formats::HooklogPackets packets;
  packets.stop = stop;
  packets.add_folder(log, unused);
  for (const auto& [id, stream] : packets.streams) {
    // Each packet tells of its ring's until then.
    uint64_t lost = stream.lost;
    for (const formats::HooklogPacket& one : stream.packets) lost = std::max(lost, one.head.lost);
    out.count = lost_sum(out.count, lost_count(lost));
    out.uncounted |= lost_count(lost) != lost;
  }
  return out;
}

}  // namespace tracewell::hooks
