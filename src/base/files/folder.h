// A folder that is held by a descriptor. What is done in it is done in that folder, whatever
// becomes of its name. The names in it are found, not given: base/files/open.h says what that
// means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/open.h"
#include "base/result.h"

namespace tracewell {

class Folder {
 public:
  /// The operator named it: links are followed.
  static Result<Folder> named(const std::string& path);
  /// The same, to write in it: links on the way are followed if they are this user's or root's.
  static Result<Folder> named_to_write(const std::string& path);
  struct Entry;
  /// Where a named file is, or is to be: links on the way are followed likewise, and what has the
  /// name itself is not looked at.
  static Result<Entry> around(const std::string& path);
  /// The same of a place that is held already, which `path` led to.
  static Result<Entry> holding(const Place& place, const std::string& path);
  /// It was found: base/files/open.h's rules.
  static Result<Folder> found(const std::string& path, const FoundRules& rules = {});
  /// The same of the last name of `path`, in the folder that it was found in; nullptr = it was
  /// named.
  static Result<Folder> found_in(const Folder* folder, const std::string& path);
  /// Made when it is not there; the parents are, and its mode is 0700. A link is not followed.
  static Result<Folder> make(const std::string& path);

  const std::string& path() const { return path_; }  // as it was named: for messages
  void call(std::string path) { path_ = std::move(path); }  // it was moved there
  std::string path_of(const std::string& name) const {
    return path_ + (path_.ends_with('/') ? "" : "/") + name;
  }
  int fd() const { return fd_.get(); }
  Result<FileFacts> facts() const { return facts_of(fd_.get(), path_); }
  /// Of what has this name; a link itself, not what it leads to. nullopt when nothing has it.
  std::optional<FileFacts> facts_of_name(const std::string& name) const;
  bool is_link(const std::string& name) const;

  /// Without "." and "..", sorted. At most kNamesMax; Limit when there are more.
  static constexpr size_t kNamesMax = 4u << 20;
  /// Folders: but for those of which the folder itself says that they name something else.
  enum class Which : uint8_t { All, Folders };
  Result<std::vector<std::string>> names(Which which = Which::All) const;

  /// A folder in it that is no link.
  Result<Folder> inside(const std::string& name) const;
  /// Made when it is not there, with `mode` but for what the umask takes away; what is there keeps
  /// its own. `is_new`: an error when it is there.
  Result<Folder> make_inside(const std::string& name, bool is_new = false,
                             uint32_t mode = 0700) const;
  /// For reading: open_found().
  Result<UniqueFd> open(const std::string& name) const;
  /// Limit when it has more than `bytes_max`.
  Result<std::shared_ptr<InputFile>> read(const std::string& name,
                                          uint64_t bytes_max = UINT64_MAX) const;
  /// For reading and writing: a regular file of this user's (of root's, where root asks) that has
  /// one name, and no link. Made with `mode` when it is not there, if `make` says so.
  /// InvalidArgument when it is something else.
  enum class Make : uint8_t { No, IfMissing, New };
  Result<UniqueFd> open_own(const std::string& name, Make make, uint32_t mode = 0600,
                            bool append = false) const;

  /// A file, or a link. NotFound when nothing has the name.
  Status remove(const std::string& name) const;
  Status remove_folder(const std::string& name) const;
  Status rename(const std::string& from, const std::string& to) const;
  /// What has the name `to` stays, unless it is an empty folder.
  Status rename_folder(const std::string& from, const std::string& to) const;
  /// What was made, renamed and removed in it stays so when the machine stops now (fsync).
  Status sync() const;

 private:
  Folder(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::string path_;
};

struct Folder::Entry {
  Folder folder;
  std::string name;  // in it
};

/// The folder and those above it, where they are missing, as mkdir -p makes them. Root's only where
/// others cannot exchange them.
Status make_folders(const std::string& path);

}  // namespace tracewell
