// trcupdate FILE: changes a template file by a list of changes, FILE.trc, and writes the list that
// takes them back, FILE.undo.trc.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/text_file.h"
#include "base/process/terminal.h"
#include "base/text/text.h"
#include "cli/command.h"
#include "cli/options/option.h"
#include "hooks/control/defaults.h"
#include "hooks/control/undoable_change.h"
#include "hooks/words/hook_ids.h"
#include "report/templates/template_update.h"
#include "trace/reports/report_log.h"

namespace tracewell::cli {
namespace {

struct UpdateOptions {
  bool ignore_versions = false, verbose = false;
  std::string templates, extract, list;
};

/// For a terminal, whose controls a label may hold; a list that goes elsewhere stays as it stands.
std::string shown(std::string_view list) {
  std::string out;
  while (!list.empty()) {
    const size_t plain = std::min(list.find_first_of("\n\t"), list.size());
    out += printable(list.substr(0, plain));
    if (plain < list.size()) out += list[plain];
    list.remove_prefix(std::min(plain + 1, list.size()));
  }
  return out;
}

Result<int> extract(const std::string& path, const std::string& list) {
  TW_ASSIGN_OR_RETURN(const std::string text, read_text_file(path));
  TW_RETURN_IF_ERROR(report::check_uncompressed(text, path));
  TW_ASSIGN_OR_RETURN(const std::vector<uint16_t> hooks,
                      report::template_hooks(hooks::list_words(list), "-x"));
  TW_ASSIGN_OR_RETURN(const std::string out, report::extract_templates(text, hooks));
  fmt::print("{}", output_is_terminal() ? shown(out) : out);
  return static_cast<int>(kOk);
}

Result<int> update(const UpdateOptions& options, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const report::UpdateList list, report::read_update_list(options.list));
  std::vector<std::string> notes;
  const auto change = [&](const std::string& text) -> Result<hooks::UndoableText> {
    TW_RETURN_IF_ERROR(report::check_uncompressed(text, path));
    TW_ASSIGN_OR_RETURN(report::TemplateUpdate done,
                        report::update_templates(text, list.text, list.path,
                                                 options.ignore_versions));
    notes = std::move(done.notes);
    return hooks::UndoableText{std::move(done.text), std::move(done.undo)};
  };
  TW_RETURN_IF_ERROR(hooks::change_undoably(path, list.undo_path, list.facts, change));
  if (options.verbose)
    for (const std::string& note : notes) fmt::print("{}\n", note);
  return static_cast<int>(kOk);
}

Result<int> change_templates(const UpdateOptions& options) {
  using hooks::StateUse;
  std::string path = options.templates;
  if (path.empty()) {
    const StateUse use = options.extract.empty() ? StateUse::Write : StateUse::Read;
    TW_ASSIGN_OR_RETURN(path, trace::default_templates(use));
  }
  if (!options.extract.empty()) return extract(path, options.extract);
  if (options.list.empty())
    return {Errc::InvalidArgument, "which changes? FILE (of FILE.trc) or -x HOOKS is missing"};
  return update(options, path);
}

}  // namespace

Run trcupdate_command(OptionTable& table) {
  auto options = std::make_shared<UpdateOptions>();
  table.add({
      {.names = "FILE",
       .to = &options->list,
       .what = "FILE.trc lists the changes; FILE.undo.trc will take them back",
       .completes = Completes::File},
      {.names = "-o",
       .to = &options->ignore_versions,
       .what = "replace templates of higher versions, too; undo needs it"},
      {.names = "-t",
       .to = &options->templates,
       .value = "TEMPLATES",
       .what = "the template file",
       .completes = Completes::File},
      {.names = "-v", .to = &options->verbose, .what = "say what is done"},
      {.names = "-x",
       .to = &options->extract,
       .value = "HOOKS",
       .what = "print templates of these hooks as a list of changes",
       .excludes = "FILE"},
  });
  table.footer =
      "The list's first line is * /etc/trcfmt. Then: + TEMPLATE adds one, or replaces that of its\n"
      "hook if the version is not lower; - HOOK deletes one. If any line is wrong, nothing is\n"
      "changed. Without -t, the file is $TRACEWELL_TEMPLATES, /etc/trcfmt (root) or\n"
      "$XDG_STATE_HOME/tracewell/trcfmt (others).";
  return [options](const Invocation&) -> int {
    const auto status = change_templates(*options);
    if (status.ok()) return *status;
    if (status.error().code != Errc::Corrupt) return fail(status.error());
    fmt::print(stderr, "{}\n", status.error().text());  // lines with carets, safe to print
    return exit_status(status.error());
  };
}

}  // namespace tracewell::cli
