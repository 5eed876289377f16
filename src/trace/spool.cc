#include "trace/spool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "base/files/named.h"
#include "base/files/paths.h"

namespace tracewell::trace {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

Status write_all(int fd, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("cannot keep what comes from standard input");
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return {};
}

/// What there is, up to the size of the buffer; 0 at the end.
Result<size_t> read_some(std::span<uint8_t> into) {
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, into.data(), into.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return errno_error("cannot read standard input");
  }
}

}  // namespace

std::string Spool::path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

Result<Spool> Spool::standard_input(const InputFile::Wanted& wanted) {
  Spool out;
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) return out;
  TW_ASSIGN_OR_RETURN(out.fd_, open_nameless(temporary_folder()));
  std::vector<uint8_t> buffer(kPieceBytes);
  size_t head = 0;
  for (bool judged = false; !judged;) {
    TW_ASSIGN_OR_RETURN(const size_t got, read_some(std::span(buffer).subspan(head)));
    head += got;
    judged = got == 0 || head >= InputFile::kHeadBytes;
  }
  TW_RETURN_IF_ERROR(write_all(out.fd_.get(), Bytes(buffer).first(head)));
  if (!wanted(Bytes(buffer).first(std::min(head, InputFile::kHeadBytes)))) return out;
  while (true) {
    TW_ASSIGN_OR_RETURN(const size_t got, read_some(buffer));
    if (got == 0) return out;
    TW_RETURN_IF_ERROR(write_all(out.fd_.get(), Bytes(buffer).first(got)));
  }
}

}  // namespace tracewell::trace
