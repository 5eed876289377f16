// tracewell find FILE WHAT …: who did it, and when.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/find_rows.h"
#include "trace/place.h"
#include "trace/questions/find.h"

namespace tracewell::cli {
namespace {

struct FindOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  std::string what;      // exec, read, write, access, reg, bytes, value
  std::string argument;  // of it
  uint64_t from = 0, to = UINT64_MAX;  // steps, both included
  uint64_t limit = UINT64_MAX;
  bool backward = false;
  bool json = false;
};

using What = trace::FindQuestion::What;
struct Search {
  std::string_view name;
  What what;
};
constexpr std::array<Search, 7> kSearches = {{{"exec", What::Executions},
                                              {"read", What::Reads},
                                              {"write", What::Writes},
                                              {"access", What::Accesses},
                                              {"reg", What::RegisterChanges},
                                              {"bytes", What::MemoryBytes},
                                              {"value", What::Values}}};

/// What may have been meant by a text that is no row of bytes.
std::string bytes_hint(std::string_view text) {
  constexpr size_t kTextMax = 64;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const std::string_view digits = text.substr(2);
    return from_hex(digits) ? fmt::format("; without 0x it is {}", digits)
                            : "; a number is found by: find value";
  }
  if (text.empty() || text.size() > kTextMax) return "";
  if (text.find_first_not_of("0123456789abcdefABCDEF") == text.npos)
    return "; this is an odd number of digits";
  return fmt::format("; the bytes of this text are {}", to_hex(as_bytes(text)));
}

/// ADDR[,LEN], or what the images call a place.
Result<timeline::AddressRange> range_of(const FindOptions& options, What what,
                                        const trace::StepTrace& trace) {
  TW_ASSIGN_OR_RETURN(const trace::GivenPlace place,
                      trace::parse_place("find " + options.what, options.argument, trace.names,
                                         trace.catalog().address_bytes));
  // Of a variable all of it, of a function where it begins.
  const bool whole = what != What::Executions && place.symbol_bytes != 0;
  return timeline::AddressRange{place.address, place.last(whole ? place.symbol_bytes : 1)};
}

Result<trace::FindQuestion> question_of(const FindOptions& options, What what,
                                        const trace::StepTrace& trace) {
  trace::FindQuestion out;
  out.what = what;
  out.from = options.from;
  out.to = options.to;
  out.backward = options.backward;
  if (what == What::RegisterChanges) {
    out.register_name = options.argument;
  } else if (what == What::MemoryBytes) {
    auto bytes = from_hex(options.argument);
    if (!bytes || bytes->empty())
      return {Errc::InvalidArgument,
              fmt::format("find bytes {}: wanted are hex digits, two a byte, the lowest address "
                          "first, such as 488b05{}",
                          printable(options.argument), bytes_hint(options.argument))};
    out.bytes = *std::move(bytes);
  } else if (what == What::Values) {
    auto numbers = trace::parse_number_range(options.argument);
    if (!numbers)
      return {Errc::InvalidArgument, fmt::format("find value {}: {}", printable(options.argument),
                                                 numbers.error().message)};
    out.numbers = *numbers;
  } else {
    TW_ASSIGN_OR_RETURN(out.range, range_of(options, what, trace));
  }
  return out;
}

Result<int> find(const FindOptions& options) {
  const auto* const search = std::ranges::find(kSearches, options.what, &Search::name);
  if (options.backward && search->what == What::MemoryBytes)
    return {Errc::InvalidArgument, fmt::format("find {} does not go backwards", options.what)};
  TW_RETURN_IF_ERROR(trace::check_range(options.from, options.to));
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 finds nothing"};
  TW_ASSIGN_OR_RETURN(const trace::StepTrace trace,
                      open_step_trace(options.input, options.images));
  TW_RETURN_IF_ERROR(trace::check_steps(trace, options.from, options.to));
  tell_missing_steps(trace.trace, options.input.path);
  TW_ASSIGN_OR_RETURN(const trace::FindQuestion question,
                      question_of(options, search->what, trace));
  const render::StepWords words(trace.catalog(), trace.names);
  const render::FindRows rows(words, trace.catalog().endian, !question.numbers.is_one(),
                              trace.notes, options.json);
  uint64_t count = 0;
  const auto print = [&](const trace::Hit& hit) {
    fmt::print("{}\n", rows.row(hit));
    return ++count < options.limit;
  };
  TW_RETURN_IF_ERROR(trace::find(trace, question, print, command_work()));
  TW_RETURN_IF_ERROR(trace.answers_hold());
  if (count != 0) return static_cast<int>(kOk);
  const bool number = search->what != What::RegisterChanges && search->what != What::MemoryBytes;
  return nothing("nothing found" + (number ? trace::hex_hint(options.argument) : ""));
}

}  // namespace

Run find_command(OptionTable& table) {
  auto options = std::make_shared<FindOptions>();
  add_input_options(table, options->input);
  std::vector<std::string> names;
  for (const Search& search : kSearches) names.emplace_back(search.name);
  table.add({
      {.names = "WHAT",
       .to = &options->what,
       .what = "exec, read, write, access, reg, bytes or value",
       .choices = names,
       .required = true},
      {.names = "ARGUMENT",
       .to = &options->argument,
       .what = "of exec, read, write, access (read or write): ADDR or ADDR,LEN (with --image also "
               "NAME or NAME+N for ADDR); of reg: a register's name, or that of a part of one, "
               "such as al; of bytes: hex digits; of value: a number, or LOW..LAST; numbers are "
               "decimal or 0x…",
       .required = true},
      {.names = "--from",
       .to = &options->from,
       .value = "N",
       .unit = "step",
       .what = "begin with step N",
       .otherwise = "the first"},
      {.names = "--to",
       .to = &options->to,
       .value = "N",
       .unit = "step",
       .what = "end with step N; what others had changed in memory by then, too, whoever finds it "
               "later",
       .otherwise = "the last"},
      {.names = "--limit",
       .to = &options->limit,
       .value = "N",
       .unit = "hits",
       .what = "end after N hits",
       .otherwise = "all"},
      {.names = "--backward",
       .to = &options->backward,
       .what = "begin with the last one (not of bytes)"},
  });
  add_image_options(table, options->images,
                    "the names of functions, lines and data, and instructions that are not told");
  table.add({
      {.names = "--json", .to = &options->json, .what = "for scripts: an object a line"},
  });
  table.footer =
      "bytes: at which addresses memory held them, and before which steps, all of them at once. "
      "value: registers and accessed memory with this number in them (-1 is 0xff, 0xffff, …; "
      "segment registers are left out). write, access: also steps that find bytes otherwise than "
      "they were known to be, though no instruction of the trace wrote them: 'changed by others "
      "between steps A and B' says when. Who wrote the byte at 0x7000 that step 500 sees: "
      "find FILE write 0x7000 --to 499 --backward --limit 1; that others changed it is told "
      "whichever step finds it. Exit status: 1 when there is none.";
  return [options](const Invocation&) {
    const auto status = find(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
