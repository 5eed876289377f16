// The control file of a user's trace hooks, for those who start and stop tracing.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/mapping.h"
#include "base/result.h"

namespace tracewell::hooks {

/// $XDG_RUNTIME_DIR/tracewell, /run/user/UID/tracewell or folder_in_tmp(): the first that nobody
/// else decides about. docs/decisions/0008-trace-hooks.md has the rule, by which programs
/// look for it, too.
std::string control_folder();
/// A sentence when it stands for one before it.
std::optional<std::string> control_folder_trouble();
/// Makes it, if need be. It may be open to others.
Result<Folder> make_control_folder();

/// The mapped file. Programs see at once what is stored here.
class Control {
 public:
  /// Makes the file if there is none. Folder and file must be the user's alone.
  static Result<Control> open();
  Control(Control&& other) noexcept;
  Control& operator=(Control&&) = delete;

  /// Held by a command while it changes anything, so that two do not meet. Waits.
  Result<UniqueFd> lock() const;
  /// The same, but Io when another one has it.
  Result<UniqueFd> try_lock() const;
  bool is_locked() const;
  /// Held by a channel's collector as long as it lives. Io when another one has it.
  Result<UniqueFd> lock_collector(unsigned channel) const;
  bool has_collector(unsigned channel) const;
  /// Returns when there is none.
  Status wait_for_collector(unsigned channel) const;

  /// Is it, by its path, not to be found any more? Programs and commands that start now have
  /// another one.
  bool is_removed() const;

  /// Of the file.
  const std::string& path() const { return path_; }
  uint64_t inode() const { return inode_; }
  uint32_t state(unsigned channel) const;
  /// Comes after all that was written before.
  void set_state(unsigned channel, uint32_t state);
  tracewell_channel& channel(unsigned channel) const;
  /// A bit for each hook id, least significant first.
  std::span<uint8_t> filter(unsigned channel) const;
  /// Each program may write to what this is the sum of: hooks/session/losses.h says what was lost.
  uint64_t failures(unsigned channel) const;
  void set_failures(unsigned channel, uint64_t records);
  /// What no program can write to.
  tracewell_watch& watch(unsigned channel) const;
  /// Of a session's collector: that there was one; and why it ended, where that is known.
  void forget_collector(unsigned channel);
  void note_collector(unsigned channel);
  bool had_collector(unsigned channel) const;
  void note_why(unsigned channel, std::string_view text);
  std::string why(unsigned channel) const;

 private:
  Control() = default;
  /// Once more: locks are a descriptor's own. Also when the file has no name any more.
  Result<UniqueFd> reopen() const;
  Status map_failures(const Folder& folder);
  tracewell_failures& page_of_failures() const;  // of programs of releases before
  bool is_watched(unsigned channel) const;

  UniqueFd fd_;
  Mapping map_, failures_;
  uint8_t* data_ = nullptr;
  std::string path_;
  uint64_t inode_ = 0;
};

}  // namespace tracewell::hooks
