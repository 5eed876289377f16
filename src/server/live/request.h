// A live server as its user asks for it, with gdbserver's words.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/live/live.h"
#include "target/target.h"

namespace tracewell::server {

/// Texts are as they were typed.
struct LiveRequest {
  std::string comm;                         // parse_comm()
  target::Processes::LaunchOptions launch;  // argv empty: no program
  bool attach = false;
  bool attach_running = false;              // and attach
  int64_t pid = 0;                          // attach
  bool multi = false, once = false;
  std::set<std::string, std::less<>> disabled;  // for agent::SessionOptions
  std::string buffer;                       // file for the trace buffer; "" = in the usual place
  std::string fast_tracepoints = "all";     // agent::parse_fast_use() knows it
  std::string save_dir;                     // "" = nothing may be saved
  bool save_overwrite = false;
  std::string allow_users;                  // Admission::parse()
  std::string debug;                        // --debug or --debug=WHAT; "" = not
  bool remote_debug = false;
  std::string debug_file, debug_format;
  bool tells_of_sysroot = false;            // LiveOptions
  std::function<void(std::string_view)> tell;
};

/// COMM PROG [ARGS…], or COMM and one PID where `to.attach` says so, or COMM alone with `to.multi`:
/// the words behind gdbserver's options. InvalidArgument with a text for people.
Status take_words(std::vector<std::string> words, LiveRequest& to);

/// The packets of --disable-packet: names with commas. InvalidArgument when there is none of that
/// name, which would quietly disable nothing.
Status disable_packets(std::string_view names, LiveRequest& to);

/// serve_live(). `user_fd`, which is borrowed, is where the server's user reads: standard error.
/// Errors name the option.
Result<LiveEnd> serve_request(const LiveRequest& request, int user_fd);

}  // namespace tracewell::server
