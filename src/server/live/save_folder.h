// SaveFolder: where `tsave -r` may write on the server's side. The name comes from the debugger,
// the folder from the server's user (or, by `monitor`, from whoever may debug here at all).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/folder.h"
#include "base/result.h"
#include "model/stream.h"

namespace tracewell::server {

class SaveFolder {
 public:
  /// "" = nothing may be saved. InvalidArgument when it is no folder, or when the way there leads
  /// through a link of another user's (base/files/open.h). It is held from then on.
  Status set_folder(const std::string& path);
  void set_overwrite(bool overwrite) { overwrite_ = overwrite; }

  /// Writes all of `source` as a GDB trace file under `name`, whole or not at all: relative to the
  /// folder, or absolute. No way leads out of the folder: neither `..` nor a symbolic link. `go_on`
  /// is asked now and then, and may be empty: an error of its ends it, and nothing is written.
  Status save(std::string_view name, Source& source, const std::function<Status()>& go_on) const;

 private:
  struct Place {
    std::optional<Folder> inside;  // a folder in the one that is held; none: that one itself
    std::string leaf;
  };
  Result<Place> place_of(std::string_view name) const;
  std::optional<Folder> folder_;
  std::string path_;  // its own, from the root: which absolute names lead inside
  bool overwrite_ = false;
};

}  // namespace tracewell::server
