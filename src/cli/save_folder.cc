#include "cli/save_folder.h"

#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/trace_files.h"
#include "formats/format.h"

namespace tracewell::cli {
namespace {

Error refused(std::string_view name, std::string_view why) {
  return {Errc::InvalidArgument, fmt::format("cannot save to '{}': {}", printable(name), why), {}};
}

}  // namespace

Status SaveFolder::set_folder(const std::string& path) {
  if (path.empty()) {
    folder_.clear();
    return {};
  }
  const auto real = real_path(path);
  if (!real || !is_folder(*real))
    return {Errc::InvalidArgument, fmt::format("'{}' is not a folder", printable(path))};
  folder_ = *real;
  return {};
}

Result<std::string> SaveFolder::path_of(std::string_view name) const {
  if (folder_.empty())
    return refused(name, "this server saves nothing; start it with --save-dir DIR, or use "
                         "`monitor set save-dir DIR`");
  if (name.find('\0') != name.npos) return refused(name, "there is a zero byte in it");
  const std::string leaf = file_name_of(std::string(name));
  if (leaf.empty() || leaf == "." || leaf == "..")
    return refused(name, "that does not name a file");
  const bool absolute = name.starts_with('/');
  std::string parent =
      parent_of(absolute_path(absolute ? std::string(name) : folder_ + "/" + std::string(name)));
  // The folder itself may have been named through a link.
  if (absolute) parent = real_path(parent).value_or(parent);
  const std::string top = folder_ == "/" ? "" : folder_;
  if (parent != folder_ && !parent.starts_with(top + "/"))
    return refused(name, "only names inside the save folder are allowed");
  TW_ASSIGN_OR_RETURN(Folder inside, Folder::named(folder_));
  const std::string way = parent == folder_ ? "" : parent.substr(top.size() + 1);
  for (const std::string_view step : split(way, '/')) {
    if (step.empty()) continue;
    if (inside.is_link(std::string(step)))
      return refused(name, "symbolic links inside the save folder are not followed");
    auto next = inside.inside(std::string(step));
    if (!next) return std::move(next).error().within("cannot save there");
    inside = *std::move(next);
  }
  const auto present = inside.facts_of_name(leaf);
  if (present && present->kind != FileFacts::Kind::Regular)
    return refused(name, "what is there is no plain file");
  if (present && !overwrite_)
    return refused(name, "it exists already, and the server was not told --save-overwrite");
  return inside.path_of(leaf);
}

Status SaveFolder::save(std::string_view name, Source& source) const {
  TW_ASSIGN_OR_RETURN(const std::string path, path_of(name));
  using Existing = OutputFile::Existing;
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, overwrite_ ? Existing::Replace
                                                                           : Existing::Keep));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                      formats::find_format("tfile")->create(std::move(file), {}));
  return pump(source, *sink);
}

}  // namespace tracewell::cli
