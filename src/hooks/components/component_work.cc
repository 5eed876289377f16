#include "hooks/components/component_work.h"

#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/control.h"
#include "hooks/session/notices.h"

namespace tracewell::hooks {

Result<ChosenComponents> find_components(const ComponentChoice& choice, const Work& work) {
  std::set<uint32_t> changed;
  TW_ASSIGN_OR_RETURN(const std::vector<Component> all, all_components(&changed));
  for (const uint32_t pid : changed)
    work.tell(fmt::format(
        "the block of process {} does not have what that process registered: a process that it "
        "forked may have changed what of its components is traced",
        pid));
  ChosenComponents out;
  out.chosen = choice.of(all);
  if (out.chosen.empty())
    out.none = all.empty() ? "no running program has components"
                           : "no running program has such a component";
  return out;
}

Status change_components(const ComponentChoice& choice, const ComponentChange& change,
                         const Work& work) {
  TW_ASSIGN_OR_RETURN(const Control control, Control::open());
  tell_control_folder(work);
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  TW_ASSIGN_OR_RETURN(ChosenComponents found, find_components(choice, work));
  for (Component& one : found.chosen) TW_RETURN_IF_ERROR(one.change(change));
  if (found.chosen.empty()) return {Errc::NotFound, "no running program has such a component"};
  return {};
}

Result<ComponentDump> dump_chosen_components(const ComponentChoice& choice,
                                             const std::string& folder, const std::string& command,
                                             const Work& work) {
  TW_ASSIGN_OR_RETURN(const ChosenComponents found, find_components(choice, work));
  std::string path = folder;
  if (path.empty()) {
    TW_ASSIGN_OR_RETURN(path, default_component_folder(StateUse::Write));
  }
  ComponentDump out;
  TW_ASSIGN_OR_RETURN(out.logs, dump_components(found.chosen, absolute_path(path), command));
  if (out.logs.empty())
    out.none =
        found.chosen.empty() ? found.none : "nothing is in the buffers of these components";
  for (const Component& one : found.chosen)
    if (!is_component_name(one.name()))
      out.left_out.push_back(fmt::format(
          "what is in the buffers of '{}' of process {} was left out: that is no name of a "
          "component",
          printable(one.name()), one.pid()));
  return out;
}

}  // namespace tracewell::hooks
