// Hooks whose threads could not make a ring: how many a session has lost, whoever has written to
// what programs share. include/tracewell/hook_losses.h has the layout.
#pragma once

#include <tracewell/hook_layout.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "base/result.h"
#include "hooks/control/control.h"

namespace tracewell::hooks {

/// For what is told of them.
constexpr const char* kCountsChanged =
    "a process that had given up its rights has changed the counts of those whose threads could "
    "not make a ring";

struct Losses {
  uint64_t records = 0;   // at least; programs of a user's lost no less
  bool changed = false;   // somebody took counts away
};

constexpr const char* kNoRing = "their threads could not make a ring";

/// What no log tells, because it is not there, or cannot be written: with how many hooks were lost.
Error with_losses(Error error, const Losses& losses);
/// Of the channel's session, up to now.
Losses losses_of(Control& control, unsigned channel);
/// A look at the page that all programs write to, which is kept where they do not. Cheap.
void watch_losses(Control& control, unsigned channel);
/// Of the components of processes, by pid and when it began: a number for each slot, as the process
/// counts it itself where nobody else can write.
using ComponentLosses = std::map<std::pair<uint32_t, uint64_t>,
                                 std::array<uint64_t, TRACEWELL_COMPONENTS_MAX>>;
ComponentLosses component_losses();
/// Removes those of processes that have ended, but for what sessions that run, and buffers of
/// components, are to tell.
void forget_dead_losses(const Control& control);

}  // namespace tracewell::hooks
