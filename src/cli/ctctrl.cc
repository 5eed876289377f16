// ctctrl: what of the components of running programs is traced, and how much of it; what of them
// that come later; and logs of what is in their buffers.
#include <fnmatch.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/text_file.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/components/components.h"
#include "hooks/control/control.h"
#include "hooks/control/defaults.h"
#include "hooks/session/notices.h"
#include "hooks/words/sizes.h"

namespace tracewell::cli {
namespace {

using hooks::Component;
using hooks::ComponentChange;
using Components = std::vector<Component>;

struct ComponentOptions {
  bool now = false, children = false, parents = false;
  bool later = false, for_good = false, forget_rules = false;
  bool dump = false, query = false, forget = false;
  std::vector<std::string> names, aliases, types, words;
  std::string folder;

  bool selects() const { return !names.empty() || !aliases.empty() || !types.empty(); }
};

bool fits(const std::vector<std::string>& patterns, const std::string& text) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return pattern == "all" || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

bool is_selected(const ComponentOptions& options, const Component& one) {
  return fits(options.names, one.name()) || fits(options.aliases, one.alias()) ||
         fits(options.types, one.type());
}

/// With -r, a name stands for all below it, also where no component has it itself.
bool is_below_selected(const ComponentOptions& options, const Component& one) {
  return std::ranges::any_of(options.names, [&](const std::string& pattern) {
    return ::fnmatch((pattern + ".*").c_str(), one.name().c_str(), 0) == 0;
  });
}

/// Is `child` below `parent`? By their names.
bool is_below(const Component& child, const Component& parent) {
  return child.pid() == parent.pid() && child.name().starts_with(parent.name() + ".");
}

/// Those that are selected, and with -r and -u those below and above.
Components select(const ComponentOptions& options, const Components& all) {
  Components chosen, out;
  for (const Component& one : all)
    if (!options.selects() || is_selected(options, one) ||
        (options.children && is_below_selected(options, one)))
      chosen.push_back(one);
  for (const Component& one : all) {
    const bool wanted = std::ranges::any_of(chosen, [&](const Component& it) {
      return (it.pid() == one.pid() && it.name() == one.name()) ||
             (options.children && is_below(one, it)) || (options.parents && is_below(it, one));
    });
    if (wanted) out.push_back(one);
  }
  return out;
}

struct Word {
  std::string_view name;  // what stands behind memtrace or systrace
  uint32_t level;
};
constexpr Word kLevels[] = {{"minimal", 1}, {"normal", 3}, {"detail", 7}, {"max", 9}};

std::optional<uint32_t> level_of(std::string_view word) {
  for (const Word& one : kLevels)
    if (one.name == word) return one.level;
  if (!word.starts_with("level=")) return std::nullopt;
  const auto number = parse_number(word.substr(6));
  if (!number || *number > TRACEWELL_COMPONENT_LEVEL_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// false: it is no such word.
Result<bool> obey(std::string_view word, ComponentChange& change) {
  using Memory = ComponentChange::Memory;
  const bool memory = word.starts_with("memtrace");
  if (!memory && !word.starts_with("systrace")) return false;
  word.remove_prefix(8);
  if (const auto level = level_of(word)) {
    (memory ? change.memory_level : change.system_level) = *level;
  } else if (word == "on" || word == "off") {
    if (memory)
      change.memory = word == "on" ? Memory::On : Memory::Off;
    else
      change.system = word == "on";
  } else if (memory && (word == "suspend" || word == "resume")) {
    change.memory = word == "suspend" ? Memory::Suspend : Memory::Resume;
  } else if (memory && word.starts_with("bufsize=")) {
    TW_ASSIGN_OR_RETURN(change.buffer_bytes,
                        hooks::size_within(word.substr(8), "memtracebufsize",
                                           hooks::kComponentBufferLimits));
  } else {
    return false;
  }
  return true;
}

Result<ComponentChange> change_of(const std::vector<std::string>& words) {
  ComponentChange out;
  for (const std::string& word : words) {
    TW_ASSIGN_OR_RETURN(const bool known, obey(word, out));
    if (!known)
      return {Errc::InvalidArgument,
              fmt::format("'{}' is nothing that can be done: memtrace or systrace, then on, off, "
                          "minimal, normal, detail, max, level=0 to 9; memtrace, then suspend, "
                          "resume, bufsize=SIZE",
                          printable(word))};
  }
  return out;
}

std::string_view memory_text(uint32_t mode) {
  return mode == TRACEWELL_MEMORY_OFF  ? "off"
         : mode == TRACEWELL_MEMORY_ON ? "on"
                                       : "suspended";
}

void print_components(const Components& components) {
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

using Rules = std::vector<std::pair<std::string, std::string>>;  // KIND PATTERN; the rest

/// What -c, -l and -t select, as rules begin.
std::vector<std::string> rule_heads(const ComponentOptions& options) {
  std::vector<std::string> out;
  const auto add = [&](char kind, const std::vector<std::string>& patterns) {
    for (const std::string& one : patterns) {
      out.push_back(fmt::format("{} {}", kind, one == "all" ? "*" : one));
      if (kind == 'c' && options.children && one != "all")
        out.push_back(fmt::format("c {}.*", one));
    }
  };
  add('c', options.names);
  add('l', options.aliases);
  add('t', options.types);
  return out;
}

/// A rule begins with two words.
std::string_view head_of(std::string_view line) {
  const size_t first = line.find(' ');
  return line.substr(0, first == std::string_view::npos ? first : line.find(' ', first + 1));
}

/// Later rules are stronger; one of the same selection goes only when rules are deleted.
Status change_rules(const ComponentOptions& options, const ComponentChange& change,
                    bool for_good) {
  const auto heads = rule_heads(options);
  // Whoever is the first to need the folder makes it the user's alone.
  if (!for_good) TW_RETURN_IF_ERROR(hooks::Control::open());
  TW_ASSIGN_OR_RETURN(const std::string path,
                      hooks::component_rules_path(for_good, hooks::StateUse::Write));
  return hooks::change_file(
      path, [&](const std::string& text) -> Result<std::string> {
        std::string out;
        for (const std::string_view line : split(text, '\n')) {
          const bool goes = options.forget_rules &&
                            (heads.empty() || std::ranges::count(heads, head_of(line)) != 0);
          if (!line.empty() && !goes) out.append(line).append("\n");
        }
        if (options.forget_rules) return out;
        for (const std::string& head : heads) out.append(head).append(change.rule()).append("\n");
        return out;
      });
}

Status check_patterns(const ComponentOptions& options) {
  for (const auto* list : {&options.names, &options.aliases, &options.types})
    for (const std::string& one : *list)
      if (one.empty() || one.find_first_of(" \t\n") != std::string::npos)
        return {Errc::InvalidArgument, fmt::format("'{}' is no pattern", printable(one))};
  return {};
}

/// Those of all processes. Names, on standard error, processes whose blocks somebody has changed.
Result<Components> look_at_components() {
  std::set<uint32_t> changed;
  TW_ASSIGN_OR_RETURN(Components all, hooks::all_components(&changed));
  for (const uint32_t pid : changed)
    fmt::print(stderr,
               "tracewell: the block of process {} does not have what that process registered: a "
               "process that it forked may have changed what of its components is traced\n",
               pid);
  return all;
}

/// Of a selection that has nothing in it, or in whose buffers is nothing.
int no_components(const Components& all, const Components& chosen) {
  return nothing(all.empty()      ? "no running program has components"
                 : chosen.empty() ? "no running program has such a component"
                                  : "nothing is in the buffers of these components");
}

Result<int> query(const ComponentOptions& options) {
  for (const bool for_good : {false, true}) {
    if (!(for_good ? options.for_good : options.later)) continue;
    const auto path = believed_path(hooks::component_rules_path(for_good));
    if (!path || !is_there(*path)) continue;
    TW_ASSIGN_OR_RETURN(const std::string text, read_text_file(*path));
    std::string_view rest = text;
    while (!rest.empty()) fmt::print("{}\n", printable(take_until(rest, '\n')));
  }
  if (options.later || options.for_good) return static_cast<int>(kOk);
  TW_ASSIGN_OR_RETURN(const Components all, look_at_components());
  const Components chosen = select(options, all);
  if (chosen.empty()) return no_components(all, chosen);
  print_components(chosen);
  return static_cast<int>(kOk);
}

/// Names, on standard error, components that no log can have the names of.
bool tell_left_out(const Components& chosen) {
  bool any = false;
  for (const Component& one : chosen) {
    if (hooks::is_component_name(one.name())) continue;
    any = true;
    fmt::print(stderr,
               "tracewell: what is in the buffers of '{}' of process {} was left out: that is no "
               "name of a component\n",
               printable(one.name()), one.pid());
  }
  return any;
}

Result<int> dump(const ComponentOptions& options, const std::string& command) {
  TW_ASSIGN_OR_RETURN(const Components all, look_at_components());
  std::string folder = options.folder;
  if (folder.empty()) {
    TW_ASSIGN_OR_RETURN(folder, hooks::default_component_folder(hooks::StateUse::Write));
  }
  const std::string path = absolute_path(folder);
  const Components chosen = select(options, all);
  TW_ASSIGN_OR_RETURN(const std::vector<hooks::DumpedLog> logs,
                      hooks::dump_components(chosen, path, command));
  for (const hooks::DumpedLog& log : logs) {
    fmt::print("{}\n", printable(log.path));
    if (!log.old.empty())
      fmt::print(stderr, "tracewell: what {} was is {} now\n", printable(log.path),
                 printable(log.old));
  }
  if (tell_left_out(chosen)) return static_cast<int>(kBadInput);
  return logs.empty() ? no_components(all, chosen) : static_cast<int>(kOk);
}

Result<int> change_now(const ComponentOptions& options, const ComponentChange& change) {
  TW_ASSIGN_OR_RETURN(const hooks::Control control, hooks::Control::open());
  hooks::tell_control_folder(command_work());
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  TW_ASSIGN_OR_RETURN(const Components all, look_at_components());
  Components chosen = select(options, all);
  for (Component& one : chosen) TW_RETURN_IF_ERROR(one.change(change));
  if (chosen.empty()) return {Errc::NotFound, "no running program has such a component"};
  return static_cast<int>(kOk);
}

Result<int> control_components(const ComponentOptions& options, const std::string& command) {
  TW_RETURN_IF_ERROR(check_patterns(options));
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
  TW_ASSIGN_OR_RETURN(const ComponentChange change, change_of(options.words));
  if (!options.forget_rules) {
    if (!options.selects()) return {Errc::InvalidArgument, "which components? -c, -l or -t"};
    if (options.words.empty()) return {Errc::InvalidArgument, "what shall be done with them?"};
  }
  if (options.later) TW_RETURN_IF_ERROR(change_rules(options, change, false));
  if (options.for_good) TW_RETURN_IF_ERROR(change_rules(options, change, true));
  if ((options.later || options.for_good) && !options.now) return static_cast<int>(kOk);
  return change_now(options, change);
}

void add_component_options(OptionTable& table, ComponentOptions& options) {
  table.add({
      {.names = "-c",
       .to = &options.names,
       .value = "PATTERN",
       .what = "components of these names: server.*; all",
       .shows_list = true},
      {.names = "-l",
       .to = &options.aliases,
       .value = "PATTERN",
       .what = "of these aliases",
       .shows_list = true},
      {.names = "-t",
       .to = &options.types,
       .value = "PATTERN",
       .what = "of these types",
       .shows_list = true},
      {.names = "-r",
       .to = &options.children,
       .what = "and those below them (server.net below server)"},
      {.names = "-u", .to = &options.parents, .what = "and those above them"},
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
