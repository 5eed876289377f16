// trcctl: what trace does where its command line says nothing.
#include <memory>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "base/paths.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/components/components.h"
#include "hooks/control/control.h"
#include "hooks/control/defaults.h"
#include "hooks/session/notices.h"
#include "hooks/session/session.h"
#include "hooks/words/sizes.h"

namespace tracewell::cli {
namespace {

struct DefaultsOptions {
  bool list = false, restore = false;
  std::string component_folder, log_size, buffer_size, buffer_max, log;
};

std::string any_size_text(const std::optional<uint64_t>& bytes) {
  return bytes ? fmt::format("{}", *bytes) : "any";
}

/// A trace that has lost its collector. Where there is no control file there is no trace, either.
void tell_traces() {
  if (!is_there(hooks::control_folder() + "/" + TRACEWELL_CONTROL_NAME)) return;
  if (const auto control = hooks::Control::open(); control.ok())
    hooks::tell_collectors(*control, command_work());
}

std::string path_text(const Result<std::string>& path) {
  return path.ok() ? printable(*path) : "none";
}

Result<int> list_defaults() {
  believed_path(hooks::defaults_path());  // says so where it is not
  TW_ASSIGN_OR_RETURN(const hooks::Defaults all, hooks::read_defaults());
  fmt::print("log file                    {}\n", path_text(hooks::default_log()));
  fmt::print("log size                    {}\n", any_size_text(all.log_bytes));
  fmt::print("buffer size                 {}\n",
             all.buffer_bytes.value_or(hooks::SessionOptions{}.buffer_bytes));
  fmt::print("largest buffer of users     {}\n", any_size_text(all.user_buffer_max));
  fmt::print("folder of component trace   {}\n",
             path_text(hooks::default_component_folder()));
  return static_cast<int>(kOk);
}

Status set_size(const std::string& text, const char* option, const hooks::SizeLimits& limits,
                std::optional<uint64_t>& to) {
  if (text.empty()) return {};
  TW_ASSIGN_OR_RETURN(to, hooks::size_within(text, option, limits));
  return {};
}

Status set_path(const std::string& text, std::optional<std::string>& to) {
  if (text.empty()) return {};
  to = absolute_path(text);
  return {};
}

Result<int> defaults(const DefaultsOptions& options) {
  const bool changes = options.restore || !options.component_folder.empty() ||
                       !options.log_size.empty() || !options.buffer_size.empty() ||
                       !options.buffer_max.empty() || !options.log.empty();
  if (!options.buffer_max.empty() && ::geteuid() != 0)
    return {Errc::InvalidArgument, "-N: only root says how much others may have"};
  const auto change = [&](hooks::Defaults& own) -> Status {
    if (options.restore) own = {};
    TW_RETURN_IF_ERROR(set_size(options.log_size, "-L", hooks::log_limits(1), own.log_bytes));
    TW_RETURN_IF_ERROR(set_size(options.buffer_size, "-T", hooks::kBufferLimits, own.buffer_bytes));
    TW_RETURN_IF_ERROR(
        set_size(options.buffer_max, "-N", hooks::kBufferLimits, own.user_buffer_max));
    TW_RETURN_IF_ERROR(set_path(options.log, own.log));
    return set_path(options.component_folder, own.component_folder);
  };
  if (changes) TW_RETURN_IF_ERROR(hooks::change_defaults(change));
  tell_traces();
  return options.list || !changes ? list_defaults() : static_cast<int>(kOk);
}

}  // namespace

Run trcctl_command(OptionTable& table) {
  auto options = std::make_shared<DefaultsOptions>();
  table.add({
      {.names = "-l", .to = &options->list, .what = "list the defaults; so does trcctl alone"},
      {.names = "-o",
       .to = &options->log,
       .value = "LOG",
       .what = "the log of trace",
       .completes = Completes::Folder},
      {.names = "-L",
       .to = &options->log_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = "its size"},
      {.names = "-T",
       .to = &options->buffer_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = "size of a thread's buffer"},
      {.names = "-N",
       .to = &options->buffer_max,
       .value = "SIZE",
       .unit = "bytes",
       .what = "largest buffer that users other than root may ask for"},
      {.names = "-d",
       .to = &options->component_folder,
       .value = "DIR",
       .what = "where ctctrl -D puts what it dumps",
       .completes = Completes::Folder},
      {.names = "-r",
       .to = &options->restore,
       .what = "forget all of these, before the others are set"},
      {.names = "-M",
       .to = Refused{"buffers common and rare are dumped with components (-d)"},
       .hidden = true},
  });
  refuse_nothing(table, "");
  table.footer =
      "Sizes: 512k, 2m. $TRACEWELL_LOG is stronger than -o. They are kept in\n"
      "$TRACEWELL_DEFAULTS where that is set, in /etc/tracewell/trace.conf (root) or\n"
      "$XDG_STATE_HOME/tracewell/trace.conf (others). Sizes that a user has not set are\n"
      "those of root's file.";
  return [options](const Invocation&) {
    const auto status = defaults(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
