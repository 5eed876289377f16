#include "server/buffers/left_buffers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/text/text.h"

namespace tracewell::server {
namespace {

struct Held {
  UniqueFd fd;  // locked, so that no server makes it its own meanwhile
  FileFacts facts;
};

/// InvalidArgument when a server uses it.
Result<Held> hold_left(const Folder& folder, const std::string& name) {
  Held out;
  TW_ASSIGN_OR_RETURN(out.fd, folder.open_own(name, Folder::Make::No));
  if (!lock_file(out.fd.get()))
    return {Errc::InvalidArgument,
            fmt::format("{} is in use by a server; it goes when that ends", printable(name))};
  TW_ASSIGN_OR_RETURN(out.facts, facts_of(out.fd.get(), folder.path_of(name)));
  return out;
}

/// Its name may be another file's by now.
Status remove_held(const Folder& folder, const std::string& name, const Held& held) {
  const auto named = folder.facts_of_name(name);
  if (!named || !named->is_same(held.facts))
    return {Errc::NotFound, fmt::format("{} is another file by now", printable(name))};
  return folder.remove(name);
}

/// As make_buffer_file() names them: PID.twb, PID-2.twb.
bool is_given_name(std::string_view name) {
  if (!is_buffer_name(name)) return false;
  name.remove_suffix(kBufferSuffix.size());
  const auto parts = split(name, '-');
  return parts.size() <= 2 && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
         });
}

struct LeftBuffer {
  std::string name;
  uint64_t bytes = 0;
  int64_t changed_ns = 0;
};

/// Newest first. No file stays open: there may be more of them than descriptors.
std::vector<LeftBuffer> left_buffers(const Folder& folder) {
  std::vector<LeftBuffer> out;
  const auto names = folder.names();
  if (!names) return out;
  for (const std::string& name : *names) {
    if (!is_given_name(name)) continue;
    if (const auto held = hold_left(folder, name))
      out.push_back({name, held->facts.room, held->facts.changed_ns});
  }
  std::ranges::stable_sort(
      out, [](const auto& a, const auto& b) { return a.changed_ns > b.changed_ns; });
  return out;
}

}  // namespace

bool is_buffer_name(std::string_view name) {
  return name.ends_with(kBufferSuffix) && name.find('/') == name.npos &&
         name.find('\0') == name.npos && name[0] != '.';
}

Status remove_left_buffer(const Folder& folder, const std::string& name) {
  TW_ASSIGN_OR_RETURN(const Held held, hold_left(folder, name));
  return remove_held(folder, name, held);
}

void remove_old_buffers(const Folder& folder, const LeftBounds& bounds, int64_t now_ns,
                        const std::function<void(std::string_view)>& tell) {
  size_t files = 0;
  uint64_t bytes = 0;
  for (const LeftBuffer& one : left_buffers(folder)) {
    bytes += one.bytes;
    std::string why;
    if (++files > bounds.files) why = fmt::format("{} newer ones are kept", bounds.files);
    else if (files > 1 && bytes > bounds.bytes)
      why = fmt::format("with newer ones it takes more than {} bytes", bounds.bytes);
    else if (now_ns - one.changed_ns > bounds.age_ns)
      why = fmt::format("it is older than {} days",
                        bounds.age_ns / (int64_t{24} * 3600 * 1'000'000'000));
    if (why.empty()) continue;
    const std::string path = printable(folder.path_of(one.name));
    if (const Status removed = remove_left_buffer(folder, one.name); removed)
      tell(fmt::format("Old trace buffer removed: {} ({})", path, why));
  }
}

}  // namespace tracewell::server
