// vFile: files of the server's machine, for a debugger that has none of them (manual, "Host I/O
// Packets"). The server's user decides with SessionOptions::files what may be done; what remains is
// done with that user's rights.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/session/session.h"
#include "base/files/file.h"
#include "base/files/unique_fd.h"

namespace tracewell::agent {

/// At most this many are open at once.
inline constexpr size_t kOpenFilesMax = 64;

/// `F<result>`, or `F-1,<errno>` from the host's errno when `result` is negative.
void file_reply(Reply& reply, int64_t result, int host_errno = 0);
/// `F<size>;<binary>`; sends what fits the packet and says how much that was.
void file_reply(Reply& reply, Bytes bytes);

/// Is it allowed at all? Otherwise the reply is written.
bool may_read(const Session& session, Reply& reply);
bool may_write(const Session& session, Reply& reply);

/// Are only listed files there? Then `file` is the one of that name, or the reply is written.
bool only_listed(const Session& session, const std::string& path, const target::ListedFile*& file,
                 Reply& reply);
/// What a listed file answers, as it was when it was opened.
struct stat listed_stat(const target::ListedFile& file);

/// A file as the process names it that was chosen (vFile:setfs), which is in a mount namespace of
/// its own. What is there may be anybody's: only regular files are read, and links lead nowhere
/// else. On failure errno says why.
Result<UniqueFd> open_theirs(const Session& session, const std::string& path);

/// What a program runs, to be read, if this is its name, also where the name went or is another
/// file's by now: of the process that was chosen (vFile:setfs), else of all that see files as the
/// server does. In a container, a program can have the name of any file here. Not valid: it is no
/// such name.
UniqueFd program_of_name(const Session& session, const std::string& path);

/// What the client's descriptor stands for, or null (the reply is then written).
HostFile* host_file(Session& session, std::optional<uint64_t> number, Reply& reply);

/// A hex path without NUL; empty on failure (the reply is then written).
std::string host_path(std::string_view hex, Reply& reply);

}  // namespace tracewell::agent
