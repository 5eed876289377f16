// The command line of `serve`, which is gdbserver's.
//
//   [OPTIONS] COMM PROG [ARGS…]     [OPTIONS] --attach COMM PID     [OPTIONS] --multi COMM
//
// `--wrapper WORD… --` may stand among the options. It takes any words up to a lone `--`, so its
// rest is read in a second pass.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace tracewell::cli {

struct OptionTable;

struct ServeOptions {
  bool attach = false, multi = false, once = false;
  bool attach_running = false;  // and attach
  bool wrapper_follows = false;
  bool selftest = false;
  bool remote_debug = false, ignored = false;
  std::string debug;  // --debug or --debug=WHAT; "" = not
  std::string debug_file, debug_format;
  std::string disabled_packets;  // names with commas, as typed
  std::set<std::string, std::less<>> disabled;  // for agent::SessionOptions
  std::string buffer;            // file for the trace buffer; "" = one in the usual place
  std::string fast_tracepoints = "all";
  std::string save_dir;  // "" = nothing may be saved
  bool save_overwrite = false;
  std::string allow_users;
  std::vector<std::string> words;  // behind the options
  std::string comm;
  int64_t pid = 0;                             // --attach
  target::Processes::LaunchOptions launch;     // argv empty: no program
};

/// `--allow-users`, for Admission::parse().
void add_allow_users(OptionTable& table, std::string& text);

void add_serve_options(OptionTable& table, ServeOptions& options);

/// From the words that the options left over. InvalidArgument with a text for people.
Status finish_serve_options(ServeOptions& options);

}  // namespace tracewell::cli
