// A flow that is read in another thread while somebody works on what it read before.
#pragma once

#include <memory>

#include "model/stream.h"

namespace tracewell::timeline {

/// Same places, same order. At most two blocks of some ten thousand places are read ahead; that
/// ends with the result's life. Where no thread can be started, `flow` itself is handed back.
std::unique_ptr<StepFlow> read_ahead(std::unique_ptr<StepFlow> flow);

}  // namespace tracewell::timeline
