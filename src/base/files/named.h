// A named file (base/files/open.h) for those who want all that open(2) can do, and to know errno
// when it cannot: a client's vFile packets, logs, devices.
#pragma once

#include <cstdint>
#include <string>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell {

struct NamedUse {
  bool read = true, write = false;
  bool append = false;
  bool create = false, exclusive = false;  // exclusive: it must be new
  bool truncate = false;
  /// Only read: whoever names it may have the name from a traced program. Refused is what is no
  /// regular file; and of the kernel's files those that a link leads to (/proc/PID/cwd is one;
  /// /proc/self is not), and those that not everybody may read: to open or read one does things.
  bool told = false;
  bool wait = true;      // for the other end of a pipe, or of a line
  uint32_t mode = 0666;  // of a new one, less the umask
};

/// Links are followed; where the file is written to, cut or made, only this user's and root's, and
/// no file that base/files/planted.h refuses is opened. On failure errno says why: EACCES for
/// another user's link or file.
Result<UniqueFd> open_named_for(const std::string& path, const NamedUse& use);

/// Removes a file, or a link itself. The same rule for links on the way, and for errno.
Status remove_named(const std::string& path);

/// A new file without a name in that folder, for reading and writing, this user's alone.
Result<UniqueFd> open_nameless(const std::string& folder);

}  // namespace tracewell
