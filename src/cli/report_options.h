// The lists and settings of `tracewell report`: their options.
#pragma once

#include "trace/reports/report_words.h"

namespace tracewell::cli {

struct OptionTable;

/// -d, -k, -D, -K, -T, -C, -p, -s, -e, -O, -x.
void add_report_words(OptionTable& table, trace::ReportWords& words);

}  // namespace tracewell::cli
