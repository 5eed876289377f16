#include "cli/hook_session.h"

#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/counted.h"
#include "base/folder.h"
#include "base/text.h"
#include "cli/options/option.h"
#include "hooks/log/lost_hooks.h"
#include "hooks/programs/unseen_programs.h"
#include "hooks/session/session.h"
#include "hooks/words/hook_groups.h"

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

void tell_collectors(const hooks::Control& control) {
  for (const unsigned channel : hooks::active_channels(control))
    if (const auto trouble = hooks::collector_trouble(control, channel))
      fmt::print(stderr, "tracewell: {}\n", *trouble);
}

void tell_lost_hooks(const std::optional<Folder>& log, const std::function<bool()>& stop) {
  if (!log) return;
  const hooks::LostHooks lost = hooks::lost_hooks(*log, stop);
  if (!lost.any()) return;
  const std::string hooks = lost.count == 0
                                ? "it is not known how many hooks"
                                : counted(lost.count, "hook") + (lost.uncounted ? " and more" : "");
  fmt::print(stderr, "tracewell: {} found no room (tracewell check {} says where); trace -T makes "
                     "room\n", hooks, printable(log->path()));
}

void tell_control_folder() {
  if (const auto trouble = hooks::control_folder_trouble())
    fmt::print(stderr, "tracewell: {}\n", *trouble);
}

std::optional<std::string> believed_path(const Result<std::string>& path) {
  static bool told = false;
  if (path.ok()) return *path;
  // Where nothing is there yet, nothing is left out.
  if (path.error().code != Errc::NotFound && !std::exchange(told, true))
    fmt::print(stderr, "tracewell: {} (nothing that is there is used)\n", path.error().message);
  return std::nullopt;
}

Result<std::vector<hooks::HookGroup>> own_hook_groups() {
  return hooks::read_hook_groups(believed_path(hooks::hook_groups_path()));
}

Result<std::vector<uint16_t>> hooks_of_own_groups(std::string_view names) {
  TW_ASSIGN_OR_RETURN(const std::vector<hooks::HookGroup> groups, own_hook_groups());
  return hooks::hooks_of_groups(groups, names);
}

void tell_unseen_programs() {
  tell_control_folder();
  for (const hooks::UnseenProgram& one : hooks::unseen_programs()) {
    const std::string who = fmt::format("{} (process {})", printable(one.path), one.pid);
    if (one.removed)
      fmt::print(stderr,
                 "tracewell: {} is not traced: the file {} that it looks at was removed. Start it "
                 "anew\n",
                 who, printable(one.looks_at));
    else if (one.elsewhere)
      fmt::print(stderr,
                 "tracewell: {} is not traced: it looks at {}, and commands at {}. Start it anew, "
                 "with the librts of this tracewell\n",
                 who, printable(one.looks_at), printable(hooks::control_folder()));
    else
      fmt::print(stderr,
                 "tracewell: {} is not traced: its librts is of another version ({}, and this is "
                 "{}). Start it with the librts of this tracewell; link it anew if it has librts.a "
                 "in it\n",
                 who, printable(one.looks_at), TRACEWELL_CONTROL_NAME);
  }
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
    tell_collectors(*control);
    const Status status = work(*control, hooks::channel_of(*control, *channel));
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
