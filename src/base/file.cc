// Mapped input and atomic output.
//
// A mapping outlives any promise about its file: another process may cut the file while we read it,
// and the kernel then answers an access with SIGBUS. The handler here replaces the lost page of one
// of our own mappings by zeros and lets the read go on; every other SIGBUS is handed back to the
// default action.
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>

#include "base/leftovers.h"
#include "base/links.h"

namespace tracewell {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
constexpr std::chrono::milliseconds kFlushEvery{50};  // of standard output
constexpr size_t kMappingsMax = 256;

// Read by the signal handler, so plain atomics rather than a container.
struct Mapping {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
};
std::array<Mapping, kMappingsMax> g_mappings;

void on_sigbus(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Mapping& mapping : g_mappings) {
    if (address < mapping.begin || address >= mapping.end) continue;
    const uintptr_t page = address & ~uintptr_t{4095};
    void* zeros = mmap(reinterpret_cast<void*>(page), 4096, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros != MAP_FAILED) return;
  }
  std::signal(signal, SIG_DFL);  // the faulting access runs again and takes the default action
}

void remember_mapping(const void* data, size_t size) {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
  });
  const auto begin = reinterpret_cast<uintptr_t>(data);
  for (Mapping& mapping : g_mappings) {
    uintptr_t none = 0;
    if (mapping.begin.compare_exchange_strong(none, begin)) {
      mapping.end = begin + size;
      return;
    }
  }
}

void forget_mapping(const void* data) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  for (Mapping& mapping : g_mappings) {
    if (mapping.begin != begin) continue;
    mapping.end = 0;
    mapping.begin = 0;
    return;
  }
}

Result<std::vector<uint8_t>> read_all(int fd, const std::string& path,
                                      const InputFile::Wanted& wanted) {
  std::vector<uint8_t> out;
  bool judged = !wanted;
  while (true) {
    const size_t at = out.size();
    if (!judged && at >= InputFile::kHeadBytes) {
      if (!wanted({out.data(), InputFile::kHeadBytes})) return out;
      judged = true;
    }
    out.resize(at + kBufferBytes);
    const ssize_t got = read(fd, out.data() + at, kBufferBytes);
    if (got < 0 && errno == EINTR) {
      out.resize(at);
      continue;
    }
    if (got < 0) return errno_error("cannot read " + path);
    out.resize(at + static_cast<size_t>(got));
    if (got == 0) return out;
  }
}

}  // namespace

void UniqueFd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Result<std::shared_ptr<InputFile>> InputFile::open(const std::string& path, const Wanted& wanted) {
  const bool standard_input = path == "-";
  UniqueFd fd(standard_input ? dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return errno_error("cannot open " + path);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return errno_error("cannot stat " + path);
  if (S_ISDIR(status.st_mode))
    return Error{Errc::Io, "cannot open " + path + ": it is a directory", {}};

  std::shared_ptr<InputFile> file(new InputFile);
  file->path_ = path;
  const bool from_start = !standard_input || lseek(fd.get(), 0, SEEK_CUR) == 0;
  if (S_ISREG(status.st_mode) && status.st_size > 0 && from_start) {
    file->size_ = static_cast<size_t>(status.st_size);
    void* data = mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) return errno_error("cannot map " + path);
    file->data_ = static_cast<const uint8_t*>(data);
    file->mapped_ = true;
    remember_mapping(data, file->size_);
    return file;
  }
  TW_ASSIGN_OR_RETURN(file->copy_, read_all(fd.get(), path, wanted));
  file->data_ = file->copy_.data();
  file->size_ = file->copy_.size();
  return file;
}

InputFile::~InputFile() {
  if (!mapped_) return;
  forget_mapping(data_);
  munmap(const_cast<uint8_t*>(data_), size_);
}

void InputFile::forget(size_t offset, size_t size) const {
  if (!mapped_ || offset >= size_) return;
  const size_t begin = (offset + 4095) & ~size_t{4095};
  const size_t end = std::min(offset + size, size_) & ~size_t{4095};
  if (begin < end) madvise(const_cast<uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
}

namespace {

/// What stands for an open file, for who wants to give it a name.
std::string link_of(const UniqueFd& fd) {
  return "/proc/self/fd/" + std::to_string(fd.get());
}

/// Links of /proc, to which /dev/stdout leads, stand for what is open already, with its place in
/// the file: to open the file once more would begin at its head.
UniqueFd open_special(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return UniqueFd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  for (const int own : {1, 2}) {
    struct stat other = {};
    if (fstat(own, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino)
      return UniqueFd(fcntl(own, F_DUPFD_CLOEXEC, 0));
  }
  return UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
}

/// A temporary name beside `path`.
UniqueFd create_temporary(const std::string& path, std::string& name) {
  name = path + ".XXXXXX";
  UniqueFd fd(mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return fd;
  remember_leftover(name);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd.get(), 0666 & ~mask);
  return fd;
}

/// In the folder of `path`. None where the file system has no such files, or where they could not
/// get a name later, which takes /proc.
UniqueFd create_nameless(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (!fd.valid() || access(link_of(fd).c_str(), F_OK) != 0) return {};
  return fd;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, Existing existing,
                                      Meanwhile meanwhile) {
  OutputFile file;
  file.path_ = path;
  file.existing_ = existing;
  if (path == "-") {
    file.fd_ = UniqueFd(dup(1));
    if (!file.fd_.valid()) return errno_error("cannot write standard output");
    return file;
  }
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && (!S_ISREG(status.st_mode) || is_open_file(path))) {
    file.fd_ = open_special(path, status);
    if (!file.fd_.valid()) return errno_error("cannot write " + path);
    return file;
  }
  file.regular_ = true;
  if (meanwhile == Meanwhile::Nameless) file.fd_ = create_nameless(path);
  if (!file.fd_.valid()) file.fd_ = create_temporary(path, file.temporary_);
  // What replaces a file of the user's is nobody's to read who was not to read that one.
  const bool replaces = status.st_nlink != 0 && status.st_uid == geteuid();
  if (file.fd_.valid() && replaces) fchmod(file.fd_.get(), status.st_mode & 0777);
  if (file.fd_.valid()) return file;
  Error error = errno_error("cannot write " + path);
  file.temporary_.clear();
  return error;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      existing_(other.existing_),
      regular_(other.regular_),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      written_(other.written_),
      flushed_(other.flushed_) {}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget_leftover(temporary_);
}

Status OutputFile::write(Bytes bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferBytes) return flush();
  if (path_ != "-") return {};
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ < kFlushEvery) return {};
  flushed_ = now;
  return flush();
}

Status OutputFile::flush() {
  size_t at = 0;
  while (at < buffer_.size()) {
    const ssize_t put = ::write(fd_.get(), buffer_.data() + at, buffer_.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("cannot write " + path_);
    at += static_cast<size_t>(put);
  }
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

Status OutputFile::rewrite_at(uint64_t offset, Bytes bytes) {
  TW_CHECK(can_rewrite() && offset + bytes.size() <= size());
  TW_RETURN_IF_ERROR(flush());
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("cannot write " + path_);
    offset += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return {};
}

/// A file without a name gets its own at once when that is free, else a temporary one, for a link
/// does not replace on any file system. The result is an errno.
int OutputFile::name_it() {
  const std::string file = link_of(fd_);
  const auto name = [&](const std::string& as) {
    const bool done = linkat(AT_FDCWD, file.c_str(), AT_FDCWD, as.c_str(), AT_SYMLINK_FOLLOW) == 0;
    return done ? 0 : errno;
  };
  if (const int failed = name(path_); failed != EEXIST || existing_ == Existing::Keep)
    return failed;
  for (uint32_t number = 0;; ++number) {
    temporary_ = fmt::format("{}.{}.{}", path_, getpid(), number);
    if (access(temporary_.c_str(), F_OK) == 0) continue;
    remember_leftover(temporary_);  // before it is there
    const int failed = name(temporary_);
    if (failed == 0) return 0;
    forget_leftover(temporary_);
    temporary_.clear();
    if (failed != EEXIST) return failed;
  }
}

Status OutputFile::commit() {
  TW_RETURN_IF_ERROR(flush());
  if (!regular_) return {};
  if (fsync(fd_.get()) != 0) return errno_error("cannot sync " + path_);
  const bool keep = existing_ == Existing::Keep;
  int failed = temporary_.empty() ? name_it() : 0;
  if (failed == 0 && !temporary_.empty()) {
    if ((keep ? link : rename)(temporary_.c_str(), path_.c_str()) != 0) {
      failed = errno;
    } else {
      if (keep) unlink(temporary_.c_str());
      forget_leftover(temporary_);
      temporary_.clear();
    }
  }
  if (failed == EEXIST) return {Errc::InvalidArgument, path_ + " exists already"};
  errno = failed;
  if (failed != 0) return errno_error("cannot rename to " + path_);
  fd_.reset();
  return {};
}

}  // namespace tracewell
