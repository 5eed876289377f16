#include "cli/command_work.h"

#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace tracewell::cli {

Work command_work(bool lines) {
  Work work;
  work.stop = [] { return interrupted() != 0; };
  work.begins = [lines](std::string_view what, std::optional<uint64_t> total) {
    return std::make_unique<Progress>(what, total, lines);
  };
  work.notice = [](std::string_view sentence) { fmt::print(stderr, "tracewell: {}\n", sentence); };
  return work;
}

}  // namespace tracewell::cli
