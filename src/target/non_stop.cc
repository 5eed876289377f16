#include "target/non_stop.h"

#include <fmt/format.h>

namespace tracewell::target {

Error only_a_sample(Tid thread) {
  return {Errc::Unsupported,
          fmt::format("thread {} runs on, and what is shown of it is a sample: interrupt it first",
                      thread),
          {}};
}

}  // namespace tracewell::target
