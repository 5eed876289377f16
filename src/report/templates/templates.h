// A set of compiled templates, by hook id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/compile/compile.h"
#include "report/compile/diagnostic.h"
#include "report/compile/program.h"

namespace tracewell::report {

/// Begins with our templates for the reserved hooks, which a file may replace. add() any number of
/// files, then link(); from then on it does not change and threads may share it.
class Templates {
 public:
  Templates();

  /// Compiles a file. A template with an error is left out, so that its hook's events show in the
  /// raw form; of two for one hook the later one counts. Returns errors and warnings by line.
  std::vector<Diagnostic> add(std::string_view file, std::string_view text);
  /// Binds calls to their templates. Returns a warning for each call that leads nowhere.
  std::vector<Diagnostic> link();

  /// nullptr when the hook has no template.
  const TemplateInfo* find(uint16_t hook) const {
    const int32_t at = by_hook_[hook];
    return at < 0 ? nullptr : &infos_[static_cast<size_t>(at)];
  }
  /// In the order of their hooks.
  std::vector<const TemplateInfo*> list() const;
  const Program& program() const { return program_; }

 private:
  void put(TemplateInfo info, Diagnostics& diagnostics);
  void add_raw(uint16_t hook, std::string_view label);

  Program program_;
  std::vector<TemplateInfo> infos_;
  std::vector<int32_t> by_hook_;
};

/// What some editors put in front of UTF-8, and is no part of the text. Returns what it took: ""
/// when there is none.
std::string_view take_byte_order_mark(std::string_view& text);

/// Templates of the hooks that are the facility's own.
std::string_view reserved_templates();

}  // namespace tracewell::report
