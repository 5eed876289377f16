#include "hooks/session/writing_session.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/files/folder.h"
#include "hooks/control/control.h"
#include "hooks/log/log_clock.h"
#include "hooks/log/log_use.h"

namespace tracewell::hooks {
namespace {

/// Does a session write to this log? Where others may write to its folder, the log may have another
/// name by now.
bool is_session_of(const Control& control, const std::optional<formats::HooklogUuid>& log) {
  for (unsigned i = 0; log && i < TRACEWELL_HOOK_CHANNELS; ++i) {
    const tracewell_channel& channel = control.channel(i);
    if (channel.active != 0 && std::ranges::equal(*log, channel.uuid)) return true;
  }
  return false;
}

}  // namespace

formats::HooklogFollow::Session session_of_log(const std::string& folder,
                                               std::function<bool()> stop) {
  formats::HooklogFollow::Session out;
  std::shared_ptr<Control> control;
  if (auto own = Control::open(); own.ok()) control = std::make_shared<Control>(*std::move(own));
  std::shared_ptr<Folder> held;
  if (auto named = Folder::named(folder); named.ok())
    held = std::make_shared<Folder>(*std::move(named));
  out.runs = [control, held, stop](const std::optional<formats::HooklogUuid>& log) {
    if (stop() || !log) return false;
    return (control && is_session_of(*control, log)) || (held && is_written_by(*held, *log));
  };
  out.ticks = [] { return now().ticks; };
  out.stop = std::move(stop);
  return out;
}

}  // namespace tracewell::hooks
