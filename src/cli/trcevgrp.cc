// trcevgrp: groups of trace hooks, by name, for trace -J and -K and the report. They are kept in a
// file of the user's; some are always there.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/words/group_words.h"
#include "hooks/words/hook_groups.h"
#include "hooks/words/hook_ids.h"

namespace tracewell::cli {
namespace {

struct GroupOptions {
  bool list = false, remove = false, add = false, update = false;
  std::optional<std::string> description, hooks;
  std::vector<std::string> names;
};

Result<int> event_groups(const GroupOptions& options) {
  using Kind = hooks::GroupChange::Kind;
  const int asked = options.list + options.remove + options.add + options.update;
  if (asked > 1) return {Errc::InvalidArgument, "one of -l, -r, -a and -u"};
  std::vector<std::string_view> names;
  for (const std::string& text : options.names)
    for (const std::string_view name : hooks::list_words(text)) names.push_back(name);
  if (options.list || asked == 0) {
    TW_ASSIGN_OR_RETURN(const auto groups, hooks::named_hook_groups(names, believed_files()));
    fmt::print("{}", hooks::list_hook_groups(groups));
    return static_cast<int>(kOk);
  }
  const Kind kind = options.remove ? Kind::Remove : options.add ? Kind::Add : Kind::Update;
  TW_RETURN_IF_ERROR(hooks::change_hook_groups(
      {kind, std::move(names), options.description, options.hooks}, believed_files()));
  return static_cast<int>(kOk);
}

}  // namespace

Run trcevgrp_command(OptionTable& table) {
  auto options = std::make_shared<GroupOptions>();
  table.set_help("--help", "print this help and exit");
  table.add({
      {.names = "-l",
       .to = &options->list,
       .what = "list groups (all of them, without GROUP); the default"},
      {.names = "-r", .to = &options->remove, .what = "remove the groups"},
      {.names = "-a", .to = &options->add, .what = "make a group of the hooks of -h"},
      {.names = "-u",
       .to = &options->update,
       .what = "give a group the description of -d, the hooks of -h"},
      {.names = "-d",
       .to = &options->description,
       .value = "TEXT",
       .what = "what the group is for"},
      {.names = "-h",
       .to = &options->hooks,
       .value = "HOOKS",
       .what = "its hooks: 010,02 (020 to 02f),1230"},
      {.names = "GROUP",
       .to = &options->names,
       .what = "names of groups, with commas or blanks between them",
       .completes = Completes::HookGroup},
  });
  table.footer =
      "A line of the list: NAME - DESCRIPTION (TYPE) \"HOOKS\". Those of type reserved cannot be\n"
      "changed. They are kept as such lines in $TRACEWELL_EVENT_GROUPS where that is set, in\n"
      "/var/adm/ras/evgrp (root) or $XDG_STATE_HOME/tracewell/evgrp (others).\n"
      "Exit status: 1 if there is no such group.";
  return [options](const Invocation&) {
    const auto status = event_groups(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
