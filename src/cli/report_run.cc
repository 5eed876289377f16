#include "cli/report_run.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/process/interrupt.h"
#include "base/text/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/trace_files.h"
#include "render/report_rows.h"

namespace tracewell::cli {
namespace {

class Listener final : public trace::ReportListener {
 public:
  Listener(const ReportOutput& wanted, OutputFile& output)
      : wanted_(wanted),
        output_(output),
        rows_(output, wanted.format == "jsonl", wanted.csv_safe) {}

  Status begin_rows() { return rows_.begin(); }
  /// What the last such file ends with, if it is alone.
  int not_opened() const { return not_opened_; }
  int not_read() const { return not_read_; }

 private:
  Status write(std::string_view text) override { return output_.write(text); }
  Status put(const report::ReportRow& row) override { return rows_.put(row); }
  Status flush() override { return output_.flush(); }
  void opens(const std::string& path) override {
    if (wanted_.verbose) fmt::print(stderr, "{}\n", printable(path));
  }
  void not_opened(const Error& why) override { not_opened_ = fail(why); }
  void not_read(const Error& why) override { not_read_ = fail(why); }
  void part_begins() override { guard_.emplace(); }
  void part_ends() override { guard_.reset(); }
  void stopped_by_template(const trace::ReportLog& log) override {
    fmt::print(stderr,
               "tracewell: {}: a template ends the report here ($STOP): for {}; logs of other "
               "users are reported on\n",
               printable(log.path),
               log.owner ? "all logs of " + user_name(*log.owner)
                         : "this log, whose owner is not known");
  }
  void read(const trace::ReportLog& log, const trace::LostEvents* lost) override {
    tell_problems(log.trace, log.path);
    if (lost != nullptr) tell_lost_events(*lost, log.path);
  }

  const ReportOutput& wanted_;
  OutputFile& output_;
  render::ReportRows rows_;
  std::optional<InterruptGuard> guard_;
  int not_opened_ = kOk, not_read_ = kOk;
};

}  // namespace

Result<int> run_report(const trace::ReportTask& task, const ReportOutput& wanted,
                       const report::Templates& templates, const report::ReportOptions& options) {
  TW_ASSIGN_OR_RETURN(OutputFile output, OutputFile::create(wanted.path));
  Listener listener(wanted, output);
  if (options.form == report::Form::Rows) TW_RETURN_IF_ERROR(listener.begin_rows());
  const auto done = trace::run_report(task, templates, options, command_work(), listener);
  if (!done.status.ok() && done.printed == 0) return done.status.error();
  if (done.opened == 0) return listener.not_opened();
  if (listener.not_read() != kOk && done.printed == 0) return listener.not_read();
  TW_RETURN_IF_ERROR(output.commit());
  if (!done.status.ok()) return done.status.error();
  if (listener.not_read() != kOk) return listener.not_read();
  if (done.damaged) return static_cast<int>(kBadInput);
  if (listener.not_opened() != kOk) return static_cast<int>(kNothing);
  return done.printed == 0 ? nothing("nothing was to be printed" + wanted.hint)
                           : static_cast<int>(kOk);
}

}  // namespace tracewell::cli
