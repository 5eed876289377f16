// trcctl: what trace does where its command line says nothing.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/session/notices.h"
#include "hooks/words/default_words.h"

namespace tracewell::cli {
namespace {

struct DefaultsOptions {
  bool list = false;
  hooks::DefaultWords words;
};

std::string any_size_text(const std::optional<uint64_t>& bytes) {
  return bytes ? fmt::format("{}", *bytes) : "any";
}

std::string path_text(const std::optional<std::string>& path) {
  return path ? printable(*path) : "none";
}

Result<int> defaults(const DefaultsOptions& options) {
  const bool changes = options.words.any();
  if (changes) TW_RETURN_IF_ERROR(hooks::change_defaults(options.words));
  hooks::tell_collectors(command_work());
  if (changes && !options.list) return static_cast<int>(kOk);
  TW_ASSIGN_OR_RETURN(const hooks::UsualDefaults all, hooks::usual_defaults(believed_files()));
  fmt::print("log file                    {}\n", path_text(all.log));
  fmt::print("log size                    {}\n", any_size_text(all.log_bytes));
  fmt::print("buffer size                 {}\n", all.buffer_bytes);
  fmt::print("largest buffer of users     {}\n", any_size_text(all.user_buffer_max));
  fmt::print("folder of component trace   {}\n", path_text(all.component_folder));
  return static_cast<int>(kOk);
}

}  // namespace

Run trcctl_command(OptionTable& table) {
  auto options = std::make_shared<DefaultsOptions>();
  table.add({
      {.names = "-l", .to = &options->list, .what = "list the defaults; so does trcctl alone"},
      {.names = "-o",
       .to = &options->words.log,
       .value = "LOG",
       .what = "the log of trace",
       .completes = Completes::Folder},
      {.names = "-L",
       .to = &options->words.log_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = "its size"},
      {.names = "-T",
       .to = &options->words.buffer_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = "size of a thread's buffer"},
      {.names = "-N",
       .to = &options->words.buffer_max,
       .value = "SIZE",
       .unit = "bytes",
       .what = "largest buffer that users other than root may ask for"},
      {.names = "-d",
       .to = &options->words.component_folder,
       .value = "DIR",
       .what = "where ctctrl -D puts what it dumps",
       .completes = Completes::Folder},
      {.names = "-r",
       .to = &options->words.restore,
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
