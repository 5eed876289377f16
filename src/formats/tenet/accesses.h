// What an instruction touched, as Tenet's tracers write it.
#pragma once

#include <string>

#include "formats/steps/steps_only.h"
#include "model/event.h"

namespace tracewell::formats {

/// Appends `,mr=0x…:…` and the like, with the contents that the step left. Counts what cannot be
/// shown.
void append_tenet_accesses(std::string& line, const Step& step, StepsOnly& left_out);

}  // namespace tracewell::formats
