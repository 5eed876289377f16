// What a command is. One file declares its options and does its work; commands.def names it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::cli {

struct OptionTable;

/// What all commands exit with.
enum Exit : int {
  kOk = 0,
  kNothing = 1,  // nothing found, things differ, or (check, repair) the input is damaged
  kUsage = 2,
  kBadInput = 3,
  kSystem = 4,
  kRemote = 5,
};
int exit_status(const Error& error);
/// Prints "tracewell: TEXT" to standard error and returns exit_status(error).
int fail(const Error& error);

/// There was nothing to answer with: prints "tracewell: TEXT" to standard error, and returns
/// kNothing.
int nothing(std::string_view text);

/// How a command was called.
struct Invocation {
  std::string program;       // "tracewell print", or "tracewell-gdbserver"
  bool by_own_name = false;  // through PROGRAM_NAME: the conventions of the tool it stands in for
  std::vector<std::string> arguments;  // without any name
};

/// The work, after the options were parsed. Returns the exit status.
using Run = std::function<int(const Invocation&)>;

struct Command {
  std::string_view name;
  /// Fills in the table of its options (nothing else may happen: manual page, completions and
  /// --help call it too) and returns the work, which owns what the values go to.
  Run (*configure)(OptionTable& table);
  std::string_view summary;
  bool hidden = false;
};

/// The table, in order.
std::span<const Command> commands();
const Command* find_command(std::string_view name);
/// Names of the program by which it is that command, as `trcrpt` for report.
std::vector<std::string_view> program_names(const Command& command);

/// The whole program. `arguments` as main() gets them, argv[0] included.
int run_program(const std::vector<std::string>& arguments);

#define COMMAND(name, function, summary) Run function(OptionTable& table);
#define HIDDEN_COMMAND(name, function, summary) Run function(OptionTable& table);
#define PROGRAM_NAME(basename, name)
#include "cli/commands.def"
#undef COMMAND
#undef HIDDEN_COMMAND
#undef PROGRAM_NAME

}  // namespace tracewell::cli
