// Where trace buffers live that outlive their server: `serve` makes them, `buffers` lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/buffer/buffer_file.h"
#include "agent/buffer/buffer_home.h"
#include "base/result.h"

namespace tracewell::server {

/// hooks::control_folder().
std::string buffer_folder();

/// A new file there, named after the server's process. The folder is made if there is none; one
/// that is not ours alone (others may look into it, it is a link) is an error. Of what servers
/// before it have left, only the newest stay (server/buffers/left_buffers.h): `tell` hears what
/// goes.
Result<agent::BufferFile> make_buffer_file(const std::function<void(std::string_view)>& tell);

/// For a server's runs: `path`, or if that is "", a new file as above. The first run makes it, and
/// its name is told then: scripts wait for gdbserver's first lines, and who never traces has no
/// file. `is_pipe`: is_unread_at_end.
agent::BufferHome buffer_home(const std::string& path, bool is_pipe,
                              const std::function<void(std::string_view)>& notice);
/// Whoever names `path` learns at once that it cannot be made. nothing for "".
Status check_buffer_file(const std::string& path);

/// A buffer in that folder.
struct FoundBuffer {
  std::string name;  // of the file
  std::string path;
  bool in_use = false;      // its server lives
  uint64_t agent_pid = 0;   // of the server
  std::string program;      // that was traced; "" = not known
  uint64_t frames = 0;
  uint64_t bytes = 0;       // of the frames
  uint64_t start_time_us = 0;  // of its last run, Unix epoch; 0 = there was none
  std::string problem;      // why it cannot be read; "" = it can
};

/// By name. An empty list also when there is no folder.
Result<std::vector<FoundBuffer>> find_buffers();

/// NotFound; InvalidArgument when it is in use, or `name` is no name.
Status delete_buffer(const std::string& name);

struct DeletedBuffer {
  std::string path;
  Status status;  // InvalidArgument: in use, or no file that may be deleted unasked
};
/// All that no server uses. Those that stay are in the list, too, with the reason.
Result<std::vector<DeletedBuffer>> delete_left_buffers();

}  // namespace tracewell::server
