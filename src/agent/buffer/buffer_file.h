// BufferFile: the file that a trace buffer lives in, from its first run to a clean exit.
#pragma once

#include <string>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::agent {

/// Locked (base/files/file_lock.h) as long as this process lives, which is how others tell a buffer
/// in use from one that was left behind; programs that we start do not inherit it. Gone with this
/// object unless keep() was called, so that only an agent that was killed leaves one.
class BufferFile {
 public:
  /// A new file, for its owner only. InvalidArgument when there is one of that name already: it may
  /// be all that is left of a trace.
  static Result<BufferFile> create(const std::string& path);
  static Result<BufferFile> create(Folder folder, const std::string& name);
  BufferFile(BufferFile&&) noexcept = default;
  BufferFile& operator=(BufferFile&& other) noexcept;
  ~BufferFile() { remove(); }

  int fd() const { return fd_.get(); }
  /// As it was given.
  const std::string& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  BufferFile(UniqueFd fd, Folder::Entry place, std::string path)
      : fd_(std::move(fd)), place_(std::move(place)), path_(std::move(path)) {}
  static Result<BufferFile> locked(UniqueFd fd, Folder::Entry place, const std::string& path);
  bool is_there() const;
  void remove();

  UniqueFd fd_;
  Folder::Entry place_;  // its folder, wherever that is by now
  std::string path_;
  bool kept_ = false;
};

}  // namespace tracewell::agent
