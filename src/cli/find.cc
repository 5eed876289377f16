// tracewell find FILE WHAT …: who did it, and when.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/find_hits.h"
#include "cli/image_names.h"

namespace tracewell::cli {
namespace {

struct Search {
  std::string_view name;
  Status (*find)(StepTrace&, const FindOptions&, HitPrinter&);
  bool backward;  // can it go that way?
};
constexpr std::array<Search, 7> kSearches = {{{"exec", find_executions, true},
                                              {"read", find_accesses, true},
                                              {"write", find_accesses, true},
                                              {"access", find_accesses, true},
                                              {"reg", find_changes, true},
                                              {"bytes", find_bytes, false},
                                              {"value", find_value, false}}};

Result<int> find(const FindOptions& options) {
  const auto* search = std::find_if(kSearches.begin(), kSearches.end(), [&](const Search& one) {
    return one.name == options.what;
  });
  if (options.backward && !search->backward)
    return {Errc::InvalidArgument,
            fmt::format("find {} does not go backwards", options.what)};
  TW_RETURN_IF_ERROR(check_range(options.from, options.to));
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 finds nothing"};
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input));
  TW_RETURN_IF_ERROR(check_steps(trace, options.from, options.to));
  TW_ASSIGN_OR_RETURN(AddressNames names, names_of_images(trace.catalog(), options.images));
  const StepWords words(trace.catalog(), std::move(names));
  HitPrinter hits(options, words);
  TW_RETURN_IF_ERROR(search->find(trace, options, hits));
  TW_RETURN_IF_ERROR(trace.answers_hold());
  if (hits.count() != 0) return static_cast<int>(kOk);
  const bool number = options.what != "reg" && options.what != "bytes";
  return nothing("nothing found" + (number ? hex_hint(options.argument) : ""));
}

}  // namespace

Run find_command(CLI::App& app) {
  auto options = std::make_shared<FindOptions>();
  add_input_options(app, options->input);
  std::vector<std::string> names;
  for (const Search& search : kSearches) names.emplace_back(search.name);
  app.add_option("WHAT", options->what, "exec, read, write, access, reg, bytes or value")
      ->required()
      ->check(CLI::IsMember(names));
  app.add_option("ARGUMENT", options->argument,
                 "of exec, read, write, access (read or write): ADDR or ADDR,LEN; of reg: a "
                 "register's name, or that of a part of one, such as al; of bytes: hex digits; of "
                 "value: a number, or LOW..LAST; numbers are decimal or 0x…")
      ->required();
  add_number_option(app, "--from", options->from, "begin with step N");
  add_number_option(app, "--to", options->to, "end with step N");
  add_number_option(app, "--limit", options->limit, "end after N hits");
  app.add_flag("--backward", options->backward, "begin with the last one");
  add_image_options(app, options->images, "the names of functions, lines and data");
  app.add_flag("--json", options->json, "for scripts: an object a line");
  app.footer(
      "bytes: at which addresses memory held them, and before which steps, all of them at once. "
      "value: registers and accessed memory with this number in them (-1 is 0xff, 0xffff, …; "
      "segment registers are left out). Who wrote the byte at 0x7000 "
      "that step 500 sees: find FILE write 0x7000 --to 499 --backward --limit 1. Exit status: 1 "
      "when there is none.");
  return [options](const Invocation&) {
    const auto status = find(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
