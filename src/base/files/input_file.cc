// Input as one span of bytes: mapped where it can be, copied where it cannot.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/files/open.h"
#include "base/files/patient.h"
#include "base/text/text.h"

namespace tracewell {
namespace {

constexpr size_t kPieceBytes = 256 * 1024;
constexpr uint64_t kPage = 4096;
// Of a log with thousands of files not all descriptors are kept.
constexpr int kKeptMax = 128;
std::atomic<int> g_kept{0};
// A process has about 65 500 areas of memory (vm.max_map_count), and needs some itself. When so
// many files are mapped, others are copied, as long as they are small, and together not too large.
constexpr int kMappedMax = 40'000;
constexpr size_t kCopiedBytesMax = 64 << 10;
constexpr int64_t kAllCopiedBytesMax = 512 << 20;
std::atomic<int> g_mapped{0};
std::atomic<int64_t> g_copied_bytes{0};

/// So many that were closed are remembered.
constexpr size_t kLostMax = 65'536;
struct AllFiles {
  std::mutex mutex;
  uint64_t last_id = 0;
  std::set<const InputFile*> open;
  std::vector<LostFile> lost;  // of those that are closed
};
/// Never destroyed: a file may be closed at the very end.
AllFiles& all_files() {
  static auto* const all = new AllFiles;
  return *all;
}

Result<std::vector<uint8_t>> read_all(int fd, const std::string& path,
                                      const InputFile::Wanted& wanted, uint64_t bytes_max) {
  std::vector<uint8_t> out;
  bool judged = !wanted;
  while (true) {
    const size_t at = out.size();
    if (at > bytes_max) return out;
    if (!judged && at >= InputFile::kHeadBytes) {
      if (!wanted({out.data(), InputFile::kHeadBytes})) return out;
      judged = true;
    }
    out.resize(at + kPieceBytes);
    const ssize_t got = read(fd, out.data() + at, kPieceBytes);
    if (got < 0 && waited_to_read(fd)) {
      out.resize(at);
      continue;
    }
    if (got < 0) return errno_error("cannot read " + printable(path));
    out.resize(at + static_cast<size_t>(got));
    if (got == 0) return out;
  }
}

/// So much of the file as it has by now, `size` bytes at most.
Result<std::vector<uint8_t>> read_from_begin(int fd, size_t size, const std::string& path) {
  std::vector<uint8_t> out(size);
  size_t used = 0;
  while (used < size) {
    const ssize_t got = ::pread(fd, out.data() + used, size - used, static_cast<off_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read " + printable(path));
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  return out;  // what was cut meanwhile is zeros
}

/// What was found is opened so that nobody waits for it (base/files/open.h); what was named is not.
bool is_not_waited_for(int fd) { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

}  // namespace

Result<std::shared_ptr<InputFile>> InputFile::open(const std::string& path, const Wanted& wanted,
                                                   uint64_t bytes_max) {
  const bool standard_input = path == "-";
  if (!standard_input) {
    TW_ASSIGN_OR_RETURN(UniqueFd fd, open_named(path));
    return of(std::move(fd), path, wanted, false, bytes_max);
  }
  UniqueFd fd(fcntl(0, F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return errno_error("cannot read standard input");
  return of(std::move(fd), path, wanted, true, bytes_max);
}

Result<std::shared_ptr<InputFile>> InputFile::open_found(const std::string& path) {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, tracewell::open_found(path));
  return of(std::move(fd), path);
}

Result<std::shared_ptr<InputFile>> InputFile::open_beside(const std::string& path,
                                                          const FileFacts& other) {
  bool others_put_there = true;
  TW_ASSIGN_OR_RETURN(UniqueFd fd, tracewell::open_beside(path, other, &others_put_there));
  TW_ASSIGN_OR_RETURN(std::shared_ptr<InputFile> file, of(std::move(fd), path));
  file->others_put_there_ = others_put_there;
  return file;
}

Result<std::shared_ptr<InputFile>> InputFile::of(UniqueFd fd, const std::string& path,
                                                 const Wanted& wanted, bool here,
                                                 uint64_t bytes_max) {
  std::shared_ptr<InputFile> file(new InputFile);
  file->path_ = path;
  TW_ASSIGN_OR_RETURN(file->facts_, facts_of(fd.get(), path));
  if (file->facts_.kind == FileFacts::Kind::Folder)
    return Error{Errc::Io, fmt::format("cannot open {}: it is a directory", printable(path)), {}};
  const bool from_start = !here || lseek(fd.get(), 0, SEEK_CUR) == 0;
  if (file->facts_.kind == FileFacts::Kind::Regular && file->facts_.bytes > 0 && from_start) {
    file->size_ = static_cast<size_t>(file->facts_.bytes);
    if (g_mapped.load() >= kMappedMax) {
      TW_RETURN_IF_ERROR(file->copy_small(fd.get()));
      return file;
    }
    TW_ASSIGN_OR_RETURN(file->mapping_, Mapping::map(fd.get(), file->size_, Mapping::Access::Read,
                                                     printable(path)));
    file->data_ = file->mapping_.data();
    ++g_mapped;
    if (g_kept.fetch_add(1) < kKeptMax)
      file->fd_ = std::move(fd);
    else
      --g_kept;
    return file;
  }
  // Of a regular file that was found, its size is the bound: it has no end that is waited for. Only
  // files of the kernel's have more in them than their size says, and only named ones are those.
  if (file->facts_.kind == FileFacts::Kind::Regular && !here && is_not_waited_for(fd.get()))
    return file;
  TW_ASSIGN_OR_RETURN(file->copy_, read_all(fd.get(), path, wanted, bytes_max));
  file->data_ = file->copy_.data();
  file->size_ = file->copy_.size();
  return file;
}

Status InputFile::copy_small(int fd) {
  const auto bytes = static_cast<int64_t>(size_);
  if (size_ > kCopiedBytesMax || g_copied_bytes.load() + bytes > kAllCopiedBytesMax)
    return {Errc::Limit, fmt::format("cannot read {}: {} files are open already, and it has more "
                                     "bytes than are copied then",
                                     printable(path_), kMappedMax)};
  TW_ASSIGN_OR_RETURN(copy_, read_from_begin(fd, size_, path_));
  copied_bytes_ = bytes;
  g_copied_bytes += bytes;
  data_ = copy_.data();
  return {};
}

InputFile::InputFile() {
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  id_ = ++all.last_id;
  all.open.insert(this);
}

InputFile::~InputFile() {
  const auto missing = lost();
  if (fd_.valid()) --g_kept;
  if (mapping_.valid()) --g_mapped;
  g_copied_bytes -= copied_bytes_;
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  all.open.erase(this);
  if (missing && all.lost.size() < kLostMax) all.lost.push_back({id_, path_, *missing});
}

std::vector<LostFile> InputFile::all_lost() {
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  std::vector<LostFile> out = all.lost;
  for (const InputFile* file : all.open)
    if (const auto missing = file->lost()) out.push_back({file->id_, file->path_, *missing});
  std::ranges::sort(out, {}, &LostFile::id);
  return out;
}

bool InputFile::is_locked() const {
  if (fd_.valid()) return file_is_locked(fd_.get());
  const auto fd = reopened();
  return fd.ok() && file_is_locked(fd->get());
}

std::optional<bool> InputFile::has_writer() const {
  if (fd_.valid()) return tracewell::has_writer(fd_.get());
  const auto fd = reopened();
  return fd.ok() ? tracewell::has_writer(fd->get()) : std::nullopt;
}

uint64_t InputFile::next_data(uint64_t offset) const {
  if (!mapping_.valid() || offset >= size_) return std::min<uint64_t>(offset, size_);
  UniqueFd once_more;
  if (!fd_.valid()) {
    auto fd = reopened();
    if (!fd.ok()) return offset;
    once_more = *std::move(fd);
  }
  const off_t at = ::lseek(fd_.valid() ? fd_.get() : once_more.get(), static_cast<off_t>(offset),
                           SEEK_DATA);
  if (at >= 0) return std::min(static_cast<uint64_t>(at), uint64_t{size_});
  return errno == ENXIO ? size_ : offset;
}

/// By its name, where its descriptor was not kept. What has the name by now is looked at before it
/// is opened: to open a FIFO waits, and to open a device does things.
Result<UniqueFd> InputFile::reopened() const {
  TW_ASSIGN_OR_RETURN(const UniqueFd held, hold_behind(path_));
  TW_ASSIGN_OR_RETURN(const FileFacts now, facts_of(held.get(), path_));
  if (!now.is_same(facts_))
    return {Errc::Io, fmt::format("{} is another file by now", printable(path_))};
  return open_held(held.get(), HeldUse::Read, path_);
}

Result<std::shared_ptr<InputFile>> InputFile::again() const {
  UniqueFd fd(fd_.valid() ? fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0) : -1);
  if (!fd.valid()) {
    TW_ASSIGN_OR_RETURN(fd, reopened());
  }
  return of(std::move(fd), path_);
}

/// Pages that were wholly cut off are known by the access that failed; of the last page that is
/// left, only the size of the file tells.
std::optional<LostBytes> InputFile::lost() const {
  std::optional<LostBytes> out;
  if (const auto pages = mapping_.lost())
    out = LostBytes{pages->first, std::min(pages->pages * kPage, size_ - pages->first)};
  if (!mapping_.valid()) return out;
  std::optional<FileFacts> now;
  if (!fd_.valid()) {
    now = facts_at(path_);
    if (now && !now->is_same(facts_)) now.reset();
  } else if (const auto facts = facts_of(fd_.get(), path_); facts.ok()) {
    now = *facts;
  }
  if (!now || now->bytes >= size_) return out;
  if (!out) return LostBytes{now->bytes, size_ - now->bytes};
  return LostBytes{std::min(out->first, now->bytes), std::max(out->bytes, size_ - now->bytes)};
}

}  // namespace tracewell
