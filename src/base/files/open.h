// The one place where files are opened by name. docs/threat-model.md says who may be trusted with
// what.
//
// Two kinds of names:
// - NAMED: the operator wrote it, in a command or in a packet of an admitted client, or it is one
//   of this program's own (/proc/PID/maps). It is opened as any tool opens it: links and pipes are
//   followed. Nothing is written through a link of another user, though: in /tmp anybody may have
//   put it there.
// - FOUND: it stood in a folder, a core file, a link map, a log or a trace. Whoever wrote that may
//   want a privileged reader to open something else. Only regular files are opened, for reading,
//   and only links of this user and of root are followed. What is checked is the opened file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell {

/// What fstat(2) says. `what` names the file in an error.
Result<FileFacts> facts_of(int fd, std::string_view what);
/// Of what the path leads to, links followed; nullopt when nothing is there or it is hidden. For
/// messages and choices only: by the time that the file is opened, another may be there.
std::optional<FileFacts> facts_at(const std::string& path);

/// For reading. "-" is not special here. Io when it cannot be opened.
Result<UniqueFd> open_named(const std::string& path);
/// For reading and writing what is there already: a socket's device, a terminal, a file of ours.
/// Links are followed as write_place() follows them.
Result<UniqueFd> open_named_to_write(const std::string& path);

/// Held to be looked at (O_PATH): what a name leads to without any link on the way, other than
/// those that the kernel makes between its own files (/proc/self). InvalidArgument where there is
/// another.
Result<UniqueFd> hold_without_links(const std::string& path);

/// How a found name is followed.
struct FoundRules {
  int folder = -1;       // relative names begin here; -1 = the current folder
  bool in_root = false;  // `folder` is the root as well: absolute names and links stay below it
  std::optional<uint32_t> also;  // links of this user are followed, too
};
/// For reading. A regular file, at the end of links that this user, root or `rules.also` owns.
/// Refused (InvalidArgument): another user's link, a link of /proc that stands for an open file,
/// and what is no regular file. NotFound, Io otherwise.
Result<UniqueFd> open_found(const std::string& path, const FoundRules& rules = {});
/// The same for a folder.
Result<UniqueFd> open_found_folder(const std::string& path, const FoundRules& rules = {});

/// What a link of /proc stands for (/proc/PID/exe, …/fd/N, …/map_files/A-B): the open file itself,
/// wherever the name that the link shows leads by now. It is held to be looked at (O_PATH) and not
/// opened: to open a device or a pipe does things.
Result<UniqueFd> hold_behind(const std::string& link);
/// A regular file that is held, opened for reading, or for reading and writing. `what` names it in
/// an error. InvalidArgument: it is something else.
enum class HeldUse : uint8_t { Read, ReadAndWrite };
Result<UniqueFd> open_held(int held, HeldUse use, std::string_view what);

/// Where a name leads: the folder is open, and nothing that happens to names can change it.
struct Place {
  UniqueFd folder;   // O_PATH; not valid when `at` is an open file behind a link of /proc
  std::string name;  // in the folder; no link is behind it
  UniqueFd at;       // O_PATH: what has that name; not valid when nothing has it
  FileFacts facts;   // of `at`
};
/// Where a named output goes. InvalidArgument: a link on the way belongs neither to this user nor
/// to root. Links of /proc that stand for open files (/dev/stdout) end the walk.
Result<Place> write_place(const std::string& path);
/// The same, but what `path` itself names is no link that is followed: for files that are kept
/// beside others. `at` may be a link then.
Result<Place> place_beside(const std::string& path);

/// The same name in the same folder, once more: what has it by now. InvalidArgument: a link.
Result<Place> look_again(const Place& place, const std::string& path);

/// The name is gone from the folder, whatever had it. NotFound when nothing had.
Status remove_at(const Place& place, const std::string& path);

/// For reading: what is kept beside a file with these facts, such as an index of it. Believed is a
/// regular file that only its owner may write to: this user, root, or the owner of the other one.
/// NotFound: there is none. InvalidArgument, with a text: there is one that is not believed. Where
/// both are this user's, in a folder where nobody else puts files, it loses rights that the other
/// one does not give. `others_put_there`: may others put a file, of whomsoever, into the folder
/// that it was opened in? What is kept there is then to be believed of the very file alone that it
/// says it is of: they may have moved it there from beside another.
Result<UniqueFd> open_beside(const std::string& path, const FileFacts& other,
                             bool* others_put_there = nullptr);

/// What was made, renamed and removed in the folder stays so when the machine stops now. `fd` may
/// be O_PATH. File systems that cannot sync a folder are passed over.
Status sync_folder(int fd, const std::string& path);

/// The user's name, or their number: for messages.
std::string user_name(uint32_t uid);

}  // namespace tracewell
