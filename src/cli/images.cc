#include "cli/images.h"

#include <CLI/CLI.hpp>

namespace tracewell::cli {

void add_image_options(CLI::App& app, trace::ImageOptions& options, const std::string& purpose) {
  app.add_option("--image", options.images,
                 "an executable or library (ELF or PE) of the program, for " + purpose +
                     "; BASE is its load address, needed for what is position-independent")
      ->type_name("FILE[@BASE]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--images-from-trace", options.from_trace,
               "also open the files that the trace names, where their build-ids are the recorded "
               "ones");
}

}  // namespace tracewell::cli
