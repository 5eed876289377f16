// What a packet of a ring may hold. A ring is memory that others than its program may have: of what
// they write there, a log gets only what a program could have recorded.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace tracewell::hooks {

/// What the log has of times and of records.
struct Within {
  uint64_t first = 0;          // no ticks before it
  uint64_t last = UINT64_MAX;  // nor behind it, and behind what the counter shows now
  bool cpus = true;            // records may say on which processor they were made
};

/// Times of the head. `open`: it says no end. true: some were outside.
bool bound_times(tracewell_packet& head, bool open, const Within& within);

/// Are there records only, whole and in the order of their times? Fast.
bool are_sound(Bytes records, const tracewell_packet& head, const Within& within);

struct Kept {
  uint64_t left_out = 0;
  bool bounded = false;
};
/// Leaves out what is no record, or none that is finished; bounds the times of the others, which go
/// on from one to the next; corrects the head. `open`: zeros at the end are nothing.
Kept keep_sound(std::vector<uint8_t>& records, bool open, tracewell_packet& head,
                const Within& within);

}  // namespace tracewell::hooks
