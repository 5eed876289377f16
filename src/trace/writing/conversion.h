// A trace, or a part of it, written in another format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/format.h"
#include "model/work.h"
#include "trace/file.h"
#include "trace/images/images.h"
#include "trace/selection.h"

namespace tracewell::trace {

struct Conversion {
  InputOptions input;
  SelectionOptions selection = {};
  ImageOptions images = {};
  std::vector<std::string> modules = {};  // NAME@BASE,SIZE: whose files are not at hand
  /// Addresses, or names of the images, with commas between: steps there become trace frames.
  std::optional<std::string> at = {};
  bool mark_gaps = false;   // where that is dear, too
  std::string output = {};  // "-" is standard output
  formats::SaveOptions save = {};
};

/// Reads the trace, and writes what is chosen of it. `work` is told of what is wrong with the
/// trace, of what the format cannot carry, before that is lost, and of what was left out. An error:
/// what was at `output` is still there. NotFound: nothing was left that is worth to be written.
Status convert(const Conversion& conversion, const formats::Format& format, const Work& work);

}  // namespace tracewell::trace
