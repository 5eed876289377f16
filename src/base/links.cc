#include "base/links.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "base/file.h"

namespace tracewell {
namespace {

constexpr int kLinksMax = 40;  // as the system has it

struct Link {
  std::string text;
  bool open_file = false;
};

std::optional<Link> read_link(const std::string& path) {
  const UniqueFd link(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  Link out{std::string(PATH_MAX, '\0')};
  const ssize_t size =
      link.valid() ? ::readlinkat(link.get(), "", out.text.data(), out.text.size()) : -1;
  if (size <= 0) return std::nullopt;
  out.text.resize(static_cast<size_t>(size));
  struct statfs system = {};
  out.open_file = ::fstatfs(link.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  return out;
}

}  // namespace

Result<std::string> end_of_links(std::string path) {
  for (int links = 0; links <= kLinksMax; ++links) {
    const auto link = read_link(path);
    if (!link || link->open_file) return path;
    const size_t slash = path.rfind('/');
    path = link->text.starts_with('/') || slash == std::string::npos
               ? link->text
               : path.substr(0, slash + 1) + link->text;
  }
  errno = ELOOP;
  return errno_error("cannot write " + path);
}

bool is_open_file(const std::string& path) {
  const auto link = read_link(path);
  return link && link->open_file;
}

}  // namespace tracewell
