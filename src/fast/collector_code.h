// The collector: the code that runs inside traced processes at a hit (inproc/collect), as one piece
// that can be mapped at any address, to be read and executed.
#pragma once

#include "ax/hit.h"
#include "base/bytes.h"

namespace tracewell::fast {

/// Lives as long as the program.
Bytes collector_code();
/// What its beginning says of it.
const tracewell_collector& collector_head();

}  // namespace tracewell::fast
