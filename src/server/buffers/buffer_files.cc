#include "server/buffers/buffer_files.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/folder.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "formats/format.h"
#include "formats/tracebuffer/description.h"
#include "hooks/control/control.h"
#include "server/buffers/left_buffers.h"
#include "server/guardian.h"

namespace tracewell::server {
namespace {

constexpr int kNamesTried = 10'000;

/// /tmp is everybody's: a folder of that name may be a trap.
Status check_folder(const Folder& folder) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, folder.facts());
  const char* wrong = !is_own_user(facts.owner) ? "belongs to somebody else"
                      : (facts.mode & 0077) != 0
                          ? "is open to others (chmod 700 it)"
                          : nullptr;
  if (wrong) return {Errc::Io, fmt::format("{} {}", printable(folder.path()), wrong)};
  return {};
}

Result<Folder> usable_folder() {
  TW_ASSIGN_OR_RETURN(Folder folder, hooks::make_control_folder());
  TW_RETURN_IF_ERROR(check_folder(folder));
  return folder;
}

/// NotFound when there is none.
Result<Folder> folder_of_buffers() {
  const std::string path = buffer_folder();
  TW_ASSIGN_OR_RETURN(const Folder above, Folder::named(parent_of(path)));
  TW_ASSIGN_OR_RETURN(Folder folder, above.inside(file_name_of(path)));
  TW_RETURN_IF_ERROR(check_folder(folder));
  return folder;
}

/// As find_buffers() has it: of its path or name, or of the number alone.
std::string name_in(const Folder& folder, const std::string& named) {
  const std::string before = folder.path_of("");
  std::string out = named.starts_with(before) ? named.substr(before.size()) : named;
  if (!out.ends_with(kBufferSuffix)) out += kBufferSuffix;
  return out;
}

uint64_t number_of(const Catalog& catalog, std::string_view key) {
  for (const auto& [name, value] : catalog.extras)
    if (name == key) return parse_number(value).value_or(0);
  return 0;
}

Status look_into(UniqueFd fd, FoundBuffer& found) {
  ProblemLog problems;
  TW_ASSIGN_OR_RETURN(auto file, InputFile::of(std::move(fd), found.path));
  TW_ASSIGN_OR_RETURN(const auto source,
                      formats::open_source(std::move(file), "tracebuffer", {}, problems));
  const Catalog& catalog = source->catalog();
  found.agent_pid = number_of(catalog, formats::kTracebufferAgent);
  if (!catalog.modules.empty()) found.program = catalog.modules[0].path;
  if (!catalog.status) return {};
  found.frames = catalog.status->frames.value_or(0);
  found.bytes = catalog.status->buffer_size.value_or(0) - catalog.status->buffer_free.value_or(0);
  found.start_time_us = catalog.status->start_time_us.value_or(0);
  return {};
}

}  // namespace

std::string buffer_folder() { return hooks::control_folder(); }

Result<agent::BufferFile> make_buffer_file(const std::function<void(std::string_view)>& tell) {
  if (const auto trouble = hooks::control_folder_trouble()) tell("tracewell: " + *trouble);
  TW_ASSIGN_OR_RETURN(const Folder place, usable_folder());
  const auto now = std::chrono::system_clock::now();
  remove_old_buffers(place, {}, std::chrono::nanoseconds(now.time_since_epoch()).count(), tell);
  // A process of the same number may have left one, be it in another container.
  for (int i = 1; i <= kNamesTried; ++i) {
    TW_ASSIGN_OR_RETURN(Folder folder, usable_folder());
    const std::string again = i == 1 ? "" : fmt::format("-{}", i);
    const std::string name = fmt::format("{}{}{}", server_pid(), again, kBufferSuffix);
    auto file = agent::BufferFile::create(std::move(folder), name);
    if (file || file.error().code != Errc::InvalidArgument) return file;
  }
  return {Errc::Limit, fmt::format("{} is full of trace buffers", buffer_folder())};
}

agent::BufferHome buffer_home(const std::string& path, bool is_pipe,
                              const std::function<void(std::string_view)>& notice) {
  return {.make =
              [path, notice] {
                return path.empty() ? make_buffer_file(notice) : agent::BufferFile::create(path);
              },
          .describe = formats::tracebuffer_description,
          .notice = notice,
          .server_pid = server_pid(),
          .is_unread_at_end = is_pipe};
}

Status check_buffer_file(const std::string& path) {
  if (path.empty()) return {};
  if (::access(path.c_str(), F_OK) == 0)
    return {Errc::InvalidArgument,
            fmt::format("{0} exists; it may be the frames that a server has left (tracewell info "
                        "{0} tells): move it away, or name another file",
                        printable(path))};
  if (::access((parent_of(path) + "/.").c_str(), W_OK | X_OK) == 0) return {};
  return errno_error("cannot make " + printable(path));
}

Result<std::vector<FoundBuffer>> find_buffers() {
  std::vector<FoundBuffer> out;
  const auto folder = folder_of_buffers();
  if (!folder && folder.error().code == Errc::NotFound) return out;
  if (!folder) return folder.error();
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder->names());
  for (const std::string& name : names) {
    if (!is_buffer_name(name) || folder->is_link(name)) continue;
    auto fd = folder->open(name);
    if (!fd && fd.error().code == Errc::InvalidArgument) continue;  // no file
    FoundBuffer found;
    found.name = name;
    found.path = folder->path_of(name);
    found.in_use = fd && file_is_locked(fd->get());
    const Status status = fd ? look_into(std::move(*fd), found) : Status(fd.error());
    if (!status) found.problem = status.error().message;
    out.push_back(std::move(found));
  }
  return out;
}

Status delete_buffer(const std::string& named) {
  const auto none = [&] {
    return Error{Errc::NotFound, fmt::format("there is no trace buffer {} in {}", printable(named),
                                             printable(buffer_folder())),
                 {}};
  };
  const auto folder = folder_of_buffers();
  if (!folder && folder.error().code == Errc::NotFound) return none();
  if (!folder) return folder.error();
  const std::string name = name_in(*folder, named);
  if (!is_buffer_name(name)) return none();
  if (!folder->is_link(name)) {
    const auto fd = folder->open(name);
    if (!fd && fd.error().code == Errc::NotFound) return none();
    const Status removed = remove_left_buffer(*folder, name);
    if (removed || (fd && file_is_locked(fd->get()))) return removed;
  }
  return folder->remove(name);
}

Result<std::vector<DeletedBuffer>> delete_left_buffers() {
  std::vector<DeletedBuffer> out;
  const auto folder = folder_of_buffers();
  if (!folder && folder.error().code == Errc::NotFound) return out;
  if (!folder) return folder.error();
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder->names());
  for (const std::string& name : names) {
    const auto facts = folder->facts_of_name(name);
    if (!is_buffer_name(name) || !facts || facts->kind != FileFacts::Kind::Regular) continue;
    out.push_back({folder->path_of(name), remove_left_buffer(*folder, name)});
  }
  return out;
}

}  // namespace tracewell::server
