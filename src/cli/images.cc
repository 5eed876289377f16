#include "cli/images.h"

#include "cli/options/option.h"

namespace tracewell::cli {

void add_image_options(OptionTable& table, trace::ImageOptions& options,
                       const std::string& purpose) {
  table.add({
      {.names = "--image",
       .to = &options.images,
       .value = "FILE[@BASE]",
       .what = "an executable or library (ELF or PE) of the program, for " + purpose +
               "; BASE is its load address, needed for what is position-independent",
       .completes = Completes::File},
      {.names = "--images-from-trace",
       .to = &options.from_trace,
       .what = "also open the files that the trace names, where their build-ids are the recorded "
               "ones"},
  });
}

}  // namespace tracewell::cli
