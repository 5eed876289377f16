#include "cli/command.h"

#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "base/text/text.h"
#include "cli/command_work.h"
#include "cli/options/parse.h"
#include "cli/options/unknown_option.h"
#include "cli/version.h"
#include "trace/told_problems.h"

namespace tracewell::cli {
namespace {

constexpr Command kCommands[] = {
#define COMMAND(name, function, summary) {#name, function, summary, false},
#define HIDDEN_COMMAND(name, function, summary) {#name, function, summary, true},
#define PROGRAM_NAME(basename, name)
#include "cli/commands.def"
#undef COMMAND
#undef HIDDEN_COMMAND
#undef PROGRAM_NAME
};

struct ProgramName {
  std::string_view basename, command;
};
constexpr ProgramName kProgramNames[] = {
    {"", ""},
#define COMMAND(name, function, summary)
#define HIDDEN_COMMAND(name, function, summary)
#define PROGRAM_NAME(basename, name) {basename, #name},
#include "cli/commands.def"
#undef COMMAND
#undef HIDDEN_COMMAND
#undef PROGRAM_NAME
};

constexpr std::string_view kAbout =
    "Records what programs do, keeps it in formats that other tools open, and reads it back.";

/// The command that this basename of argv[0] stands for, or nullptr.
const Command* command_of_program(std::string_view basename) {
  for (const ProgramName& one : kProgramNames)
    if (one.basename == basename && !basename.empty()) return find_command(one.command);
  return nullptr;
}

void print_overview() {
  fmt::print("{}\n\nUsage: tracewell COMMAND [OPTIONS] …\n\nCommands:\n", kAbout);
  for (const Command& command : commands())
    if (!command.hidden) fmt::print("  {:<10} {}\n", command.name, command.summary);
  fmt::print(
      "\nOptions:\n  --help     this text; after a command: its options\n"
      "  --version  what this is\n\nExit status: 0 ok, 1 nothing found or differs, 2 usage, 3 bad "
      "input, 4 system, 5 remote.\n");
}

int usage_error(std::string_view program, std::string_view text) {
  fmt::print(stderr, "{}: {}\nTry '{} --help'.\n", program, text, program);
  return kUsage;
}

/// Tells what was not told by the end of a command. Since the answer may be wrong then, the result
/// is no good status if a trace was asked; else it is `status`.
int tell_lost_files(int status) {
  if (!trace::tell_lost_files(command_work())) return status;
  return status == kOk || status == kNothing ? static_cast<int>(kBadInput) : status;
}

/// Parses `arguments` (without any name) by the command's options and does the work.
int run_command(const Command& command, Invocation invocation,
                const std::vector<std::string>& arguments) {
  OptionTable table(invocation.program, command.summary);
  invocation.arguments = arguments;
  const Run run = command.configure(table);
  const auto shown = parse_options(table, arguments);
  if (!shown.ok()) {
    const auto unknown = unknown_option(table, arguments);
    return usage_error(invocation.program,
                       unknown ? *unknown : printable(shown.error().message));
  }
  if (*shown) {
    fmt::print("{}", **shown);
    return kOk;
  }
  return tell_lost_files(run(invocation));
}

std::string no_command(std::string_view word) {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (!command.hidden) names.emplace_back(command.name);
  return fmt::format("no command '{}'", printable(word)) + did_you_mean(std::move(names), word, "");
}

int help_command(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) {
    print_overview();
    return kOk;
  }
  const Command* command = find_command(arguments[2]);
  if (!command)
    return usage_error("tracewell", no_command(arguments[2]));
  return run_command(*command, {fmt::format("tracewell {}", command->name), false, {}}, {"--help"});
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands)
    if (command.name == name) return &command;
  return nullptr;
}

std::vector<std::string_view> program_names(const Command& command) {
  std::vector<std::string_view> out;
  for (const ProgramName& one : kProgramNames)
    if (one.command == command.name) out.push_back(one.basename);
  return out;
}

int exit_status(const Error& error) {
  switch (error.code) {
    case Errc::Corrupt:
    case Errc::Truncated:
    case Errc::Unsupported:
    case Errc::Limit:
      return kBadInput;
    case Errc::InvalidArgument:
      return kUsage;
    case Errc::NotFound:
      return kNothing;
    case Errc::Io:
    case Errc::Target:
    case Errc::Stopped:
      return kSystem;
    case Errc::Protocol:
      return kRemote;
  }
  return kSystem;
}

int fail(const Error& error) {
  if (interrupted() != 0) return kSystem;  // nobody has to be told
  fmt::print(stderr, "tracewell: {}\n", printable(error.text()));
  return exit_status(error);
}

int nothing(std::string_view text) {
  fmt::print(stderr, "tracewell: {}\n", printable(text));
  return kNothing;
}

int run_program(const std::vector<std::string>& arguments) {
  std::string_view basename = arguments.empty() ? "tracewell" : std::string_view(arguments[0]);
  basename.remove_prefix(basename.rfind('/') + 1);
  if (const Command* command = command_of_program(basename))
    return run_command(*command, {std::string(basename), true, {}},
                       {arguments.begin() + 1, arguments.end()});

  const std::string_view first = arguments.size() > 1 ? std::string_view(arguments[1]) : "";
  if (first.empty()) {
    print_overview();
    return kUsage;
  }
  if (first == "--version" || first == "-V" || first == "version") {
    fmt::print("tracewell {}\n", version());
    return kOk;
  }
  if (first == "--help" || first == "-h") {
    print_overview();
    return kOk;
  }
  if (first == "help") return help_command(arguments);
  const Command* command = find_command(first);
  if (!command) return usage_error("tracewell", no_command(first));
  return run_command(*command, {fmt::format("tracewell {}", first), false, {}},
                     {arguments.begin() + 2, arguments.end()});
}

}  // namespace tracewell::cli
