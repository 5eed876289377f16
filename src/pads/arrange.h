// One more site among those that are patched already, whatever it takes: where another plan is in
// its way, that one is made anew behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "pads/patches.h"
#include "pads/plan.h"

namespace tracewell::pads {

/// What has to be done to the program, in this order, all threads being stopped; those inside of
/// pads that go or change are moved by what their points say (emit.h).
struct Change {
  std::vector<Plan> gone;         // original bytes in place of their writes; their pads go
  std::vector<Plan> come;         // their pads, then their writes; riders: their hosts' pads
  std::vector<uint64_t> changed;  // plans of these sites stay, with other slots in their pads
};

/// Gives the site a pad, or a trap if there is no other way. Sites that had pads keep one if they
/// can, else they get traps, too. Nothing is changed, and `come` is empty, when the site is there
/// already, or is no code.
Change admit(Patches& patches, uint64_t site);

}  // namespace tracewell::pads
