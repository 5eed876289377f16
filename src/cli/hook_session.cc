#include "cli/hook_session.h"

#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "cli/command_work.h"
#include "cli/options/option.h"
#include "hooks/session/notices.h"
#include "hooks/session/session.h"

namespace tracewell::cli {
namespace {

std::string refuse_empty_list(const std::string& value) {
  return value.find_first_not_of(" ,") == std::string::npos
             ? "is given, and nothing stands behind it; leave it out, or say what"
             : "";
}

}  // namespace

void add_channel_options(OptionTable& table, std::optional<unsigned>& channel) {
  constexpr std::string_view kNames[] = {"-0", "-1", "-2", "-3", "-4", "-5", "-6", "-7"};
  static_assert(std::size(kNames) == TRACEWELL_HOOK_CHANNELS);
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i) {
    const auto take = [&channel, i](const std::string&) -> Status {
      if (channel && *channel != i) return {Errc::InvalidArgument, "channel: one is enough"};
      channel = i;
      return {};
    };
    table.add({{.names = kNames[i], .to = take, .what = fmt::format("channel {}", i)}});
  }
}

void refuse_nothing(OptionTable& table, std::string_view may_be_empty) {
  for (Option& option : table.rows)
    if (!is_flag(option) && option.names != may_be_empty) option.check = refuse_empty_list;
}

hooks::BelievedFiles& believed_files() {
  static hooks::BelievedFiles files(command_work());
  return files;
}

std::optional<std::string> believed_path(const Result<std::string>& path) {
  return believed_files().path(path);
}

Result<std::vector<hooks::HookGroup>> own_hook_groups() {
  return hooks::own_hook_groups(believed_files());
}

Result<std::vector<uint16_t>> hooks_of_own_groups(std::string_view names) {
  return hooks::hooks_of_own_groups(believed_files(), names);
}

Run on_channel(const std::function<Status(hooks::Control&, unsigned channel)>& work,
               OptionTable& table) {
  auto channel = std::make_shared<std::optional<unsigned>>();
  add_channel_options(table, *channel);
  table.footer =
      "Without a channel, the one that has a trace is meant; channel 0 where several have one.\n"
      "Exit status: 1 if no trace runs there.";
  return [channel, work](const Invocation&) -> int {
    auto control = hooks::Control::open();
    if (!control) return fail(control.error());
    hooks::tell_collectors(*control, command_work());
    const Status status = work(*control, hooks::channel_of(*control, *channel));
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
