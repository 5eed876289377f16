#include "cli/images.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "target/recorded/placement.h"

namespace tracewell::cli {

void add_image_options(CLI::App& app, ImageOptions& options, const std::string& purpose) {
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

Result<symbols::ImageMap> place_images(const Catalog& catalog, const ImageOptions& options) {
  std::vector<symbols::ImageSpec> named;
  for (const std::string& text : options.images) named.push_back(symbols::parse_image_spec(text));
  TW_ASSIGN_OR_RETURN(target::ImagePlacement placed,
                      target::place_images(catalog, named, options.from_trace));
  for (const std::string& note : placed.notes) fmt::print(stderr, "tracewell: {}\n", note);
  return std::move(placed.images);
}

}  // namespace tracewell::cli
