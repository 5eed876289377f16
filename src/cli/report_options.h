// The lists and settings of `tracewell report`, as they are typed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/report.h"

namespace tracewell::cli {

struct OptionTable;

struct ReportWords {
  std::string hooks, without_hooks;    // 010,0101,02 and 010:0001
  std::string groups, without_groups;  // of hooks, hook_groups.h
  std::string threads;                 // 12,0x1f or !12
  std::string cpus;                    // 0,1 or "0 1" or all
  std::string processes;               // 123,ksh
  std::string from_date, to_date;      // MMddhhmmssyy
  std::vector<std::string> settings;   // ids=on,timestamp=1
  bool names = false;                  // -x
};
/// -d, -k, -D, -K, -T, -C, -p, -s, -e, -O, -x.
void add_report_words(OptionTable& table, ReportWords& words);
/// InvalidArgument, with the word that is wrong and what is expected.
Result<report::ReportOptions> parse_report_words(const ReportWords& words);
/// To whom hooks of a list, as -d has it, gave nothing: "; 10 stands for the hooks 100 to 10F; the
/// hook 010 is written 010". "" where no word has two digits.
std::string hook_hint(const std::string& list);

}  // namespace tracewell::cli
