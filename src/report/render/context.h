// What codes and macros see while an event is rendered.
#pragma once

#include <string_view>

#include "report/entry.h"
#include "report/render/cursor.h"
#include "report/render/line.h"

namespace tracewell::report {

struct Context {
  Context(const LogFacts& log_facts, TextBuffer& out) : facts(&log_facts), line(out) {}

  void fault(std::string_view what) {
    failed = true;
    ++faults;
    line.fault(what);
  }

  const Entry* entry = nullptr;
  const LogFacts* facts;
  Cursor cursor;
  Line line;
  /// A read or a calculation of the datum in hand failed, and its line says so.
  bool failed = false;
  /// Since the renderer looked last.
  int64_t faults = 0;
  /// A read failed since the innermost loop's round began.
  bool read_failed = false;
};

}  // namespace tracewell::report
