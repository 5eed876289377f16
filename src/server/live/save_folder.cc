#include "server/live/save_folder.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "formats/format.h"

namespace tracewell::server {
namespace {

Error refused(std::string_view name, std::string_view why) {
  return {Errc::InvalidArgument, fmt::format("cannot save to '{}': {}", printable(name), why), {}};
}

}  // namespace

Status SaveFolder::set_folder(const std::string& path) {
  if (path.empty()) {
    folder_.reset();
    return {};
  }
  auto folder = Folder::named_to_write(path);
  if (!folder.ok() && folder.error().code == Errc::InvalidArgument)
    return std::move(folder).error();
  if (!folder.ok())
    return {Errc::InvalidArgument, fmt::format("'{}' is not a folder", printable(path))};
  folder_ = *std::move(folder);
  path_ = link_text(fmt::format("/proc/self/fd/{}", folder_->fd())).value_or(absolute_path(path));
  return {};
}

Result<SaveFolder::Place> SaveFolder::place_of(std::string_view name) const {
  if (!folder_)
    return refused(name, "this server saves nothing; start it with --save-dir DIR, or use "
                         "`monitor set save-dir DIR`");
  if (name.find('\0') != name.npos) return refused(name, "there is a zero byte in it");
  const std::string leaf = file_name_of(std::string(name));
  if (leaf.empty() || leaf == "." || leaf == "..")
    return refused(name, "that does not name a file");
  const bool absolute = name.starts_with('/');
  std::string parent =
      parent_of(absolute_path(absolute ? std::string(name) : path_ + "/" + std::string(name)));
  // The folder itself may have been named through a link. Where that leads decides no more than
  // which steps are taken from the folder that is held.
  if (absolute) parent = real_path(parent).value_or(parent);
  const std::string top = path_ == "/" ? "" : path_;
  if (parent != path_ && !parent.starts_with(top + "/"))
    return refused(name, "only names inside the save folder are allowed");
  std::optional<Folder> inside;
  const std::string way = parent == path_ ? "" : parent.substr(top.size() + 1);
  for (const std::string_view step : split(way, '/')) {
    if (step.empty()) continue;
    const Folder& here = inside ? *inside : *folder_;
    if (here.is_link(std::string(step)))
      return refused(name, "symbolic links inside the save folder are not followed");
    auto next = here.inside(std::string(step));
    if (!next) return std::move(next).error().within("cannot save there");
    inside = *std::move(next);
  }
  return Place{std::move(inside), leaf};
}

Status SaveFolder::save(std::string_view name, Source& source,
                        const std::function<Status()>& go_on) const {
  TW_ASSIGN_OR_RETURN(const Place place, place_of(name));
  const Folder& folder = place.inside ? *place.inside : *folder_;
  const auto present = folder.facts_of_name(place.leaf);
  if (present && present->kind != FileFacts::Kind::Regular)
    return refused(name, "what is there is no plain file");
  if (present && !overwrite_)
    return refused(name, "it exists already, and the server was not told --save-overwrite");
  using Existing = OutputFile::Existing;
  TW_ASSIGN_OR_RETURN(OutputFile file,
                      OutputFile::create_in(folder, place.leaf, overwrite_ ? Existing::Replace
                                                                           : Existing::Keep));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                      formats::find_format("tfile")->create(std::move(file), {}));
  return pump(source, *sink, go_on);
}

}  // namespace tracewell::server
