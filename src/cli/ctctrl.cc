// ctctrl: what of the components of running programs is traced, and how much of it; what of them
// that come later; and logs of what is in their buffers.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/components/component_choice.h"
#include "hooks/components/component_rules.h"
#include "hooks/components/component_work.h"
#include "hooks/words/component_words.h"

namespace tracewell::cli {
namespace {

using hooks::Component;

struct ComponentOptions {
  hooks::ComponentChoice choice;
  bool now = false, later = false, for_good = false, forget_rules = false;
  bool dump = false, query = false, forget = false;
  std::vector<std::string> words;
  std::string folder;
};

std::string_view memory_text(uint32_t mode) {
  return mode == TRACEWELL_MEMORY_OFF  ? "off"
         : mode == TRACEWELL_MEMORY_ON ? "on"
                                       : "suspended";
}

void print_components(const std::vector<Component>& components) {
  fmt::print("{:<24} {:<12} {:<16} {:>8}  {:<9} {:>5} {:>10}  {:<6} {:>5} {:>8}\n", "COMPONENT",
             "ALIAS", "TYPE", "PID", "MEMORY", "LEVEL", "BUFFER", "SYSTEM", "LEVEL", "LOST");
  for (const Component& one : components) {
    const tracewell_component& block = one.block();
    fmt::print("{:<24} {:<12} {:<16} {:>8}  {:<9} {:>5} {:>10}  {:<6} {:>5} {:>8}{}\n",
               printable(one.name()), printable(one.alias()), printable(one.type()), one.pid(),
               memory_text(block.memory_mode), block.memory_level, block.buffer_bytes,
               block.system_mode ? "on" : "off", block.system_level, one.lost(),
               one.process_lives() ? "" : "  (dead)");
  }
}

Result<int> query(const ComponentOptions& options) {
  for (const bool for_good : {false, true}) {
    if (!(for_good ? options.for_good : options.later)) continue;
    TW_ASSIGN_OR_RETURN(const auto rules, hooks::component_rules(for_good, believed_files()));
    std::string_view rest = rules ? std::string_view(*rules) : "";
    while (!rest.empty()) fmt::print("{}\n", printable(take_until(rest, '\n')));
  }
  if (options.later || options.for_good) return static_cast<int>(kOk);
  TW_ASSIGN_OR_RETURN(const auto found, hooks::find_components(options.choice, command_work()));
  if (found.chosen.empty()) return nothing(found.none);
  print_components(found.chosen);
  return static_cast<int>(kOk);
}

Result<int> dump(const ComponentOptions& options, const std::string& command) {
  TW_ASSIGN_OR_RETURN(const hooks::ComponentDump done,
                      hooks::dump_chosen_components(options.choice, options.folder, command,
                                                    command_work()));
  for (const hooks::DumpedLog& log : done.logs) {
    fmt::print("{}\n", printable(log.path));
    if (!log.old.empty())
      fmt::print(stderr, "tracewell: what {} was is {} now\n", printable(log.path),
                 printable(log.old));
  }
  for (const std::string& sentence : done.left_out)
    fmt::print(stderr, "tracewell: {}\n", sentence);
  if (!done.left_out.empty()) return static_cast<int>(kBadInput);
  return done.logs.empty() ? nothing(done.none) : static_cast<int>(kOk);
}

/// What holds for those that come later.
Status change_rules(const ComponentOptions& options, const hooks::ComponentChange& change,
                    bool for_good) {
  if (options.forget_rules) return hooks::forget_component_rules(options.choice, for_good);
  return hooks::add_component_rules(options.choice, change, for_good);
}

Result<int> control_components(const ComponentOptions& options, const std::string& command) {
  TW_RETURN_IF_ERROR(options.choice.check());
  if (options.dump + options.query + options.forget_rules + options.forget > 1)
    return {Errc::InvalidArgument, "one of -D, -q, -x and --forget"};
  if (options.forget) {
    TW_ASSIGN_OR_RETURN(const uint64_t count, hooks::forget_dead_components());
    return count == 0 ? nothing("no dead program has left buffers") : static_cast<int>(kOk);
  }
  if (options.query) return query(options);
  if (options.dump) return dump(options, command);
  if (options.forget_rules && !options.later && !options.for_good)
    return {Errc::InvalidArgument, "-x needs -p or -P"};
  TW_ASSIGN_OR_RETURN(const hooks::ComponentChange change,
                      hooks::component_change(options.words));
  if (!options.forget_rules) {
    if (!options.choice.selects()) return {Errc::InvalidArgument, "which components? -c, -l or -t"};
    if (options.words.empty()) return {Errc::InvalidArgument, "what shall be done with them?"};
  }
  if (options.later) TW_RETURN_IF_ERROR(change_rules(options, change, false));
  if (options.for_good) TW_RETURN_IF_ERROR(change_rules(options, change, true));
  if ((options.later || options.for_good) && !options.now) return static_cast<int>(kOk);
  TW_RETURN_IF_ERROR(hooks::change_components(options.choice, change, command_work()));
  return static_cast<int>(kOk);
}

void add_component_options(OptionTable& table, ComponentOptions& options) {
  table.add({
      {.names = "-c",
       .to = &options.choice.names,
       .value = "PATTERN",
       .what = "components of these names: server.*; all",
       .shows_list = true},
      {.names = "-l",
       .to = &options.choice.aliases,
       .value = "PATTERN",
       .what = "of these aliases",
       .shows_list = true},
      {.names = "-t",
       .to = &options.choice.types,
       .value = "PATTERN",
       .what = "of these types",
       .shows_list = true},
      {.names = "-r",
       .to = &options.choice.children,
       .what = "and those below them (server.net below server)"},
      {.names = "-u", .to = &options.choice.parents, .what = "and those above them"},
      {.names = "-n", .to = &options.now, .what = "now, too, with -p and -P"},
      {.names = "-p", .to = &options.later, .what = "those that programs register from now on"},
      {.names = "-P",
       .to = &options.for_good,
       .what = "the same, also after the machine was started again"},
      {.names = "-x",
       .to = &options.forget_rules,
       .what = "forget what -p or -P said (of these, or of all)"},
      {.names = "-q",
       .to = &options.query,
       .what = "list components; with -p, -P: what these said"},
      {.names = "-D", .to = &options.dump, .what = "write what is in their buffers to logs"},
      {.names = "-d",
       .to = &options.folder,
       .value = "DIR",
       .what = "where to: a log DIR/NAME for each name",
       .completes = Completes::Folder},
      {.names = "--forget",
       .to = &options.forget,
       .what = "drop the buffers of programs that are dead"},
      {.names = "DO",
       .to = &options.words,
       .what = "memtraceon, memtracelevel=5, … (below)",
       .choices = {"memtraceon", "memtraceoff", "memtracesuspend", "memtraceresume",
                   "memtraceminimal", "memtracenormal", "memtracedetail", "memtracemax",
                   "systraceon", "systraceoff", "systraceminimal", "systracenormal",
                   "systracedetail", "systracemax"},
       .open = true},
  });
}

}  // namespace

Run ctctrl_command(OptionTable& table) {
  auto options = std::make_shared<ComponentOptions>();
  add_component_options(table, *options);
  table.footer =
      "DO: memtraceon, memtraceoff, memtracesuspend, memtraceresume, memtracebufsize=SIZE (of a\n"
      "thread's buffer), memtraceminimal (level 1), memtracenormal (3), memtracedetail (7),\n"
      "memtracemax (9), memtracelevel=0 to 9; and with systrace (the trace on channel 0) all but\n"
      "suspend, resume and bufsize. The components common and rare are the buffers that all of a\n"
      "program share. DIR is what trcctl -d said, /var/adm/ras/trc_ct (root) or\n"
      "$XDG_STATE_HOME/tracewell/trc_ct (others).\n"
      "Exit status: 1 if there are no such components.";
  return [options](const Invocation& call) {
    const auto status = control_components(*options, call.program);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
