// What ctctrl does to components of programs that run: list, change and dump those that are meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/components/component_choice.h"
#include "hooks/components/components.h"
#include "model/work.h"

namespace tracewell::hooks {

struct ChosenComponents {
  std::vector<Component> chosen;
  std::string_view none;  // chosen is empty: why
};
/// Of all processes. `work` is told of processes whose blocks somebody has changed.
Result<ChosenComponents> find_components(const ComponentChoice& choice, const Work& work);

/// NotFound when there are none.
Status change_components(const ComponentChoice& choice, const ComponentChange& change,
                         const Work& work);

struct ComponentDump {
  std::vector<DumpedLog> logs;
  std::string_view none;              // no logs: why
  std::vector<std::string> left_out;  // sentences: of what no log can have the name of
};
/// Into `folder`; "": default_component_folder(). `command` is what the logs say that they were
/// made by.
Result<ComponentDump> dump_chosen_components(const ComponentChoice& choice,
                                             const std::string& folder, const std::string& command,
                                             const Work& work);

}  // namespace tracewell::hooks
