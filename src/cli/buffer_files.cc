#include "cli/buffer_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/text.h"
#include "cli/guardian.h"
#include "formats/format.h"
#include "formats/tracebuffer.h"
#include "hooks/control.h"

namespace tracewell::cli {
namespace {

constexpr std::string_view kSuffix = ".twb";
constexpr int kNamesTried = 10'000;

/// /tmp is everybody's: a folder of that name may be a trap.
Status check_folder(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return errno_error(path);
  const char* wrong = !S_ISDIR(about.st_mode)           ? "is no folder"
                      : about.st_uid != ::geteuid()     ? "belongs to somebody else"
                      : (about.st_mode & 0077) != 0     ? "is open to others (chmod 700 it)"
                                                        : nullptr;
  if (wrong) return {Errc::Io, fmt::format("{} {}", path, wrong)};
  return {};
}

Result<std::string> usable_folder() {
  std::string path = buffer_folder();
  if (path == hooks::folder_in_tmp()) {
    TW_ASSIGN_OR_RETURN(path, hooks::make_in_tmp());
  }
  if (const auto trouble = hooks::folder_trouble(path))
    fmt::print(stderr, "tracewell: {}\n", *trouble);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error("cannot make " + path);
  TW_RETURN_IF_ERROR(check_folder(path));
  return path;
}

bool is_buffer_name(std::string_view name) {
  return name.ends_with(kSuffix) && name.find('/') == name.npos && name[0] != '.';
}

uint64_t number_of(const Catalog& catalog, std::string_view key) {
  for (const auto& [name, value] : catalog.extras)
    if (name == key) return parse_number(value).value_or(0);
  return 0;
}

Status look_into(FoundBuffer& found) {
  ProblemLog problems;
  TW_ASSIGN_OR_RETURN(auto file, InputFile::open(found.path));
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

std::string buffer_folder() {
  const char* runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  // The specification: a relative path is to be ignored.
  if (runtime && runtime[0] == '/') return std::string(runtime) + "/tracewell";
  return hooks::folder_in_tmp();
}

Result<agent::BufferFile> make_buffer_file() {
  TW_ASSIGN_OR_RETURN(const std::string folder, usable_folder());
  // A process of the same number may have left one, be it in another container.
  for (int i = 1; i <= kNamesTried; ++i) {
    const std::string again = i == 1 ? "" : fmt::format("-{}", i);
    auto file = agent::BufferFile::create(
        fmt::format("{}/{}{}{}", folder, server_pid(), again, kSuffix));
    if (file || file.error().code != Errc::InvalidArgument) return file;
  }
  return {Errc::Limit, fmt::format("{} is full of trace buffers", folder)};
}

Result<std::vector<FoundBuffer>> find_buffers() {
  std::vector<FoundBuffer> out;
  const std::string folder = buffer_folder();
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) {
    if (errno == ENOENT) return out;
    return errno_error(folder);
  }
  TW_RETURN_IF_ERROR(check_folder(folder));
  while (const dirent* entry = ::readdir(entries.get())) {
    if (!is_buffer_name(entry->d_name)) continue;
    FoundBuffer found;
    found.name = entry->d_name;
    found.path = folder + "/" + found.name;
    struct stat about {};
    if (::lstat(found.path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    found.in_use = file_is_locked(found.path);
    if (Status status = look_into(found); !status) found.problem = status.error().message;
    out.push_back(std::move(found));
  }
  std::ranges::sort(out, {}, &FoundBuffer::name);
  return out;
}

Status delete_buffer(const std::string& name) {
  const std::string folder = buffer_folder();
  const std::string path = folder + "/" + name;
  struct stat about {};
  if (!is_buffer_name(name) || ::lstat(path.c_str(), &about) != 0)
    return {Errc::NotFound, fmt::format("there is no trace buffer {} in {}", printable(name),
                                        folder)};
  TW_RETURN_IF_ERROR(check_folder(folder));
  if (S_ISREG(about.st_mode) && file_is_locked(path))
    return {Errc::InvalidArgument,
            fmt::format("{} is in use by a server; it goes when that ends", name)};
  if (::unlink(path.c_str()) != 0) return errno_error("cannot delete " + path);
  return {};
}

}  // namespace tracewell::cli
