// The lists and settings of a report, as they are typed: AIX's spelling (trcrpt).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/report.h"

namespace tracewell::trace {

struct ReportWords {
  std::string hooks, without_hooks;    // 010,0101,02 and 010:0001
  std::string groups, without_groups;  // of hooks
  std::string threads;                 // 12,0x1f or !12
  std::string cpus;                    // 0,1 or "0 1" or all
  std::string processes;               // 123,ksh
  std::string from_date, to_date;      // MMddhhmmssyy
  std::vector<std::string> settings;   // ids=on,timestamp=1
  bool names = false;                  // -x
};
/// Ids of all hooks of groups by these names, which have commas or blanks between them.
using HooksOfGroups = std::function<Result<std::vector<uint16_t>>(std::string_view names)>;
/// InvalidArgument, with the word that is wrong and what is expected.
Result<report::ReportOptions> parse_report_words(const ReportWords& words,
                                                 const HooksOfGroups& hooks_of_groups);
/// To whom hooks of a list, as -d has it, gave nothing: "; 10 stands for the hooks 100 to 10F; the
/// hook 010 is written 010". "" where no word has two digits.
std::string hook_hint(const std::string& list);

}  // namespace tracewell::trace
