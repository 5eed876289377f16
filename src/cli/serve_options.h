// The command line of `serve`, which is gdbserver's.
//
//   [OPTIONS] COMM PROG [ARGS…]     [OPTIONS] --attach COMM PID     [OPTIONS] --multi COMM
//
// `--wrapper WORD… --` may stand among the options. It takes any words up to a lone `--`, so its
// rest is read in a second pass.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/live/request.h"

namespace tracewell::cli {

struct OptionTable;

struct ServeOptions : server::LiveRequest {
  bool wrapper_follows = false;
  bool selftest = false;
  bool ignored = false;
  std::string disabled_packets;    // names with commas, as typed
  std::vector<std::string> words;  // behind the options
};

/// `--allow-users`, for Admission::parse().
void add_allow_users(OptionTable& table, std::string& text);

void add_serve_options(OptionTable& table, ServeOptions& options);

/// From the words that the options left over. InvalidArgument with a text for people.
Status finish_serve_options(ServeOptions& options);

}  // namespace tracewell::cli
