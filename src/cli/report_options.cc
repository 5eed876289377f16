#include "cli/report_options.h"

#include "cli/options/option.h"

namespace tracewell::cli {
namespace {

/// -d, -k, -D, -K.
void add_hook_words(OptionTable& table, trace::ReportWords& words) {
  table.add({
      {.names = "-d,--hooks",
       .to = &words.hooks,
       .value = "HOOK,…",
       .what = "only these hooks; 010:0001 is hook 010, subhook 1"},
      {.names = "-k,--without-hooks",
       .to = &words.without_hooks,
       .value = "HOOK,…",
       .what = "all but these hooks"},
      {.names = "-D,--groups",
       .to = &words.groups,
       .value = "GROUP,…",
       .what = "hooks of these event groups, beside those of -d",
       .completes = Completes::HookGroup,
       .separator = ','},
      {.names = "-K,--without-groups",
       .to = &words.without_groups,
       .value = "GROUP,…",
       .what = "not those of these event groups, beside those of -k",
       .completes = Completes::HookGroup,
       .separator = ','},
  });
}

}  // namespace

void add_report_words(OptionTable& table, trace::ReportWords& words) {
  add_hook_words(table, words);
  table.add({
      {.names = "-T,--threads",
       .to = &words.threads,
       .value = "THREAD,…",
       .what = "only these threads, or !… all but these"},
      {.names = "-p,--processes",
       .to = &words.processes,
       .value = "PROCESS,…",
       .what = "only these processes: numbers, or names of programs"},
      {.names = "-C,--cpus",
       .to = &words.cpus,
       .value = "CPU,…",
       .what = "only events of these processors, or all; with their column"},
      {.names = "-s,--from-date",
       .to = &words.from_date,
       .value = "MMddhhmmssyy",
       .what = "not what was before: local time"},
      {.names = "-e,--to-date",
       .to = &words.to_date,
       .value = "MMddhhmmssyy",
       .what = "not what was after: local time"},
      {.names = "-O,--set",
       .to = &words.settings,
       .value = "NAME=VALUE,…",
       .what = "2line, component, cpuid, exec, filename, pid, tid (off), ids, removedups (on), "
               "reportedcpus (off) = on or off; hist = on: how many events each hook has, and "
               "nothing else; timestamp = 0 (seconds with nanoseconds), 1 (short), "
               "2 (microseconds), 3 (none); "
               "starttime, endtime = seconds since the first event (of that owner's logs); "
               "pagesize = lines, 0 to 500",
       .shows_list = true},
      {.names = "-x,--names",
       .to = &words.names,
       .what = "with program and process: -O exec=on,pid=on"},
  });
}

}  // namespace tracewell::cli
