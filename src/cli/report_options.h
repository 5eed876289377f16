// The lists and settings of `tracewell report`, as they are typed.
#pragma once

#include <string>

#include "base/result.h"
#include "report/report.h"

namespace CLI {
class App;
}

namespace tracewell::cli {

struct ReportWords {
  std::string hooks, without_hooks;  // 010,0101
  std::string threads;               // 12,0x1f or !12
  std::string cpus;                  // 0,1 or all
  std::string settings;              // ids=on,timestamp=1
};
/// -d, -k, -T, -C, -O.
void add_report_words(CLI::App& app, ReportWords& words);
/// InvalidArgument, with the word that is wrong and what is expected.
Result<report::ReportOptions> parse_report_words(const ReportWords& words);

}  // namespace tracewell::cli
