// What holds for trace hooks where a command line says nothing; `trcctl` changes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::hooks {

struct Defaults {
  std::optional<std::string> log;               // absolute
  std::optional<std::string> component_folder;  // absolute
  std::optional<uint64_t> log_bytes, buffer_bytes;
  std::optional<uint64_t> user_buffer_max;      // root's word, for others
};

enum class StateUse : uint8_t { Read, Write };

/// A file of this user's: $`variable` where that is set; `roots` for root; and
/// $XDG_STATE_HOME/tracewell/`name` (~/.local/state/…) for others. Of the last, InvalidArgument
/// says that somebody else decides what is found there, and who: a link or a folder on the way, or
/// the folder `tracewell`, is neither this user's nor root's, or everybody may write to it.
/// NotFound: nothing is there, and others may make it first; to write, the folder is made.
Result<std::string> state_path(const char* variable, const char* roots, const char* name,
                               StateUse use = StateUse::Read);

/// $TRACEWELL_DEFAULTS, /etc/tracewell/trace.conf, …/trace.conf: state_path(). Lines `KEY = VALUE`.
Result<std::string> defaults_path(StateUse use = StateUse::Read);

/// The user's; where he says nothing of sizes, root's. None of his where defaults_path() is an
/// error. Corrupt names the line.
Result<Defaults> read_defaults();

/// Gives `change` what the user's own file has, and keeps what it makes of that. Commands that do
/// so at a time wait for each other.
Status change_defaults(const std::function<Status(Defaults& own)>& change);

/// Replaces a small file while its lock, a file beside it, is held; makes its folder. Io when
/// somebody else holds the lock for longer than `lock_wait`. InvalidArgument: it is another user's.
/// `change` gets the text as it is, "" when there is none, and says what it shall be.
Status change_file(const std::string& path,
                   const std::function<Result<std::string>(const std::string& text)>& change,
                   std::chrono::milliseconds lock_wait = std::chrono::seconds(30));
/// The same. `change` gets what the system says of the file, too: nullptr when there is none. One
/// that is made then is hidden from those who may not read `source`.
Status change_file(const std::string& path, const FileFacts& source,
                   const std::function<Result<std::string>(const std::string& text,
                                                           const FileFacts* facts)>& change);

}  // namespace tracewell::hooks
