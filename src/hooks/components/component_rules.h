// What holds for components that programs register from now on: rules, in a file of their user's.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "hooks/components/component_choice.h"
#include "hooks/components/components.h"
#include "hooks/control/believed_files.h"

namespace tracewell::hooks {

/// Adds one for each pattern of the choice. Later rules are stronger: those of the same patterns
/// stay.
Status add_component_rules(const ComponentChoice& choice, const ComponentChange& change,
                           bool for_good);
/// Removes those of the choice's patterns; all, where it has none.
Status forget_component_rules(const ComponentChoice& choice, bool for_good);

/// The text of the file; nullopt: there is none, or it is not believed.
Result<std::optional<std::string>> component_rules(bool for_good, BelievedFiles& files);

}  // namespace tracewell::hooks
