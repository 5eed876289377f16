#include "hooks/session/notices.h"

#include <string>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "hooks/log/lost_hooks.h"
#include "hooks/programs/unseen_programs.h"
#include "hooks/session/session.h"

namespace tracewell::hooks {
namespace {

std::string unseen_text(const UnseenProgram& one) {
  const std::string who = fmt::format("{} (process {})", printable(one.path), one.pid);
  if (one.removed)
    return fmt::format("{} is not traced: the file {} that it looks at was removed. Start it anew",
                       who, printable(one.looks_at));
  if (one.elsewhere)
    return fmt::format("{} is not traced: it looks at {}, and commands at {}. Start it anew, with "
                       "the librts of this tracewell",
                       who, printable(one.looks_at), printable(control_folder()));
  return fmt::format("{} is not traced: its librts is of another version ({}, and this is {}). "
                     "Start it with the librts of this tracewell; link it anew if it has librts.a "
                     "in it",
                     who, printable(one.looks_at), TRACEWELL_CONTROL_NAME);
}

}  // namespace

void tell_collectors(const Control& control, const Work& work) {
  for (const unsigned channel : active_channels(control))
    if (const auto trouble = collector_trouble(control, channel)) work.tell(*trouble);
}

void tell_collectors(const Work& work) {
  if (!is_there(control_folder() + "/" + TRACEWELL_CONTROL_NAME)) return;
  if (const auto control = Control::open(); control.ok()) tell_collectors(*control, work);
}

void tell_lost_hooks(const std::optional<Folder>& log, const Work& work) {
  if (!log) return;
  const LostHooks lost = lost_hooks(*log, work.stop);
  if (!lost.any()) return;
  const std::string hooks = lost.count == 0
                                ? "it is not known how many hooks"
                                : counted(lost.count, "hook") + (lost.uncounted ? " and more" : "");
  work.tell(fmt::format("{} found no room (tracewell check {} says where); trace -T makes room",
                        hooks, printable(log->path())));
}

void tell_control_folder(const Work& work) {
  if (const auto trouble = control_folder_trouble()) work.tell(*trouble);
}

void tell_unseen_programs(const Work& work) {
  tell_control_folder(work);
  for (const UnseenProgram& one : unseen_programs()) work.tell(unseen_text(one));
}

}  // namespace tracewell::hooks
