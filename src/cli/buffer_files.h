// Where trace buffers live that outlive their server: `serve` makes them, `buffers` lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/buffer_file.h"
#include "base/result.h"

namespace tracewell::cli {

/// hooks::control_folder().
std::string buffer_folder();

/// A new file there, named after the server's process. The folder is made if there is none; one
/// that is not ours alone (others may look into it, it is a link) is an error.
Result<agent::BufferFile> make_buffer_file();

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

}  // namespace tracewell::cli
