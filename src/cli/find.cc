// tracewell find FILE WHAT …: who did it, and when.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/find_hits.h"
#include "cli/place.h"

namespace tracewell::cli {
namespace {

struct Search {
  std::string_view name;
  Status (*find)(StepTrace&, const FindOptions&, HitPrinter&);
  bool backward;   // can it go that way?
  bool has_range;  // is its argument ADDR[,LEN]?
};
constexpr std::array<Search, 7> kSearches = {{{"exec", find_executions, true, true},
                                              {"read", find_accesses, true, true},
                                              {"write", find_accesses, true, true},
                                              {"access", find_accesses, true, true},
                                              {"reg", find_changes, true, false},
                                              {"bytes", find_bytes, false, false},
                                              {"value", find_value, true, false}}};

Result<int> find(const FindOptions& asked) {
  const auto* search = std::find_if(kSearches.begin(), kSearches.end(), [&](const Search& one) {
    return one.name == asked.what;
  });
  if (asked.backward && !search->backward)
    return {Errc::InvalidArgument,
            fmt::format("find {} does not go backwards", asked.what)};
  TW_RETURN_IF_ERROR(check_range(asked.from, asked.to));
  if (asked.limit == 0) return {Errc::InvalidArgument, "--limit 0 finds nothing"};
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(asked.input, asked.images));
  TW_RETURN_IF_ERROR(check_steps(trace, asked.from, asked.to));
  tell_missing_steps(trace.trace, asked.input.path);
  AddressNames names = std::move(trace.names);
  FindOptions options = asked;
  if (search->has_range) {
    TW_ASSIGN_OR_RETURN(const GivenPlace place,
                        parse_place("find " + asked.what, asked.argument, names,
                                    trace.catalog().address_bytes));
    // Of a variable all of it, of a function where it begins.
    const bool whole = asked.what != "exec" && place.symbol_bytes != 0;
    options.range = {place.address, place.last(whole ? place.symbol_bytes : 1)};
  }
  const StepWords words(trace.catalog(), std::move(names));
  HitPrinter hits(options, words, trace.notes);
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
                 "of exec, read, write, access (read or write): ADDR or ADDR,LEN (with --image "
                 "also NAME or NAME+N for ADDR); of reg: a "
                 "register's name, or that of a part of one, such as al; of bytes: hex digits; of "
                 "value: a number, or LOW..LAST; numbers are decimal or 0x…")
      ->required();
  add_number_option(app, "--from", options->from, "begin with step N");
  add_number_option(app, "--to", options->to,
                    "end with step N; what others had changed in memory by then, too, whoever "
                    "finds it later");
  add_number_option(app, "--limit", options->limit, "end after N hits");
  app.add_flag("--backward", options->backward, "begin with the last one (not of bytes)");
  add_image_options(app, options->images,
                    "the names of functions, lines and data, and instructions that are not told");
  app.add_flag("--json", options->json, "for scripts: an object a line");
  app.footer(
      "bytes: at which addresses memory held them, and before which steps, all of them at once. "
      "value: registers and accessed memory with this number in them (-1 is 0xff, 0xffff, …; "
      "segment registers are left out). write, access: also steps that find bytes otherwise than "
      "they were known to be, though no instruction of the trace wrote them: 'changed by others "
      "between steps A and B' says when. Who wrote the byte at 0x7000 that step 500 sees: "
      "find FILE write 0x7000 --to 499 --backward --limit 1; that others changed it is told "
      "whichever step finds it. Exit status: 1 when there is none.");
  return [options](const Invocation&) {
    const auto status = find(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
