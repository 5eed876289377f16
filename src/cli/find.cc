// tracewell find FILE WHAT …: who did it, and when.
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/find_rows.h"
#include "trace/questions/find.h"
#include "trace/questions/find_words.h"
#include "trace/told_problems.h"

namespace tracewell::cli {
namespace {

struct FindOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  trace::FindWords words;
  uint64_t limit = UINT64_MAX;
  bool json = false;
};

Result<int> find(const FindOptions& options) {
  TW_RETURN_IF_ERROR(trace::check_find_words(options.words));
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 finds nothing"};
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(const trace::StepTrace trace,
                      open_step_trace(options.input, options.images));
  TW_RETURN_IF_ERROR(trace::check_steps(trace, options.words.from, options.words.to));
  trace::tell_missing_steps(trace.trace, options.input.path, work);
  TW_ASSIGN_OR_RETURN(const trace::FindQuestion question,
                      trace::find_question(options.words, trace));
  const render::StepWords words(trace.catalog(), trace.names);
  const render::FindRows rows(words, trace.catalog().endian, !question.numbers.is_one(),
                              trace.notes, options.json);
  uint64_t count = 0;
  const auto print = [&](const trace::Hit& hit) {
    fmt::print("{}\n", rows.row(hit));
    return ++count < options.limit;
  };
  TW_RETURN_IF_ERROR(trace::find(trace, question, print, work));
  TW_RETURN_IF_ERROR(trace.answers_hold());
  if (count != 0) return static_cast<int>(kOk);
  return nothing(trace::nothing_found(options.words));
}

}  // namespace

Run find_command(OptionTable& table) {
  auto options = std::make_shared<FindOptions>();
  add_input_options(table, options->input);
  table.add({
      {.names = "WHAT",
       .to = &options->words.what,
       .what = "exec, read, write, access, reg, bytes or value",
       .choices = trace::find_kinds(),
       .required = true},
      {.names = "ARGUMENT",
       .to = &options->words.argument,
       .what = "of exec, read, write, access (read or write): ADDR or ADDR,LEN (with --image also "
               "NAME or NAME+N for ADDR); of reg: a register's name, or that of a part of one, "
               "such as al; of bytes: hex digits; of value: a number, or LOW..LAST; numbers are "
               "decimal or 0x…",
       .required = true},
      {.names = "--from",
       .to = &options->words.from,
       .value = "N",
       .unit = "step",
       .what = "begin with step N",
       .otherwise = "the first"},
      {.names = "--to",
       .to = &options->words.to,
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
       .to = &options->words.backward,
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
