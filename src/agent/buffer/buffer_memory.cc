#include "agent/buffer/buffer_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace tracewell::agent {

namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
constexpr uint64_t kGiveBackBytes = 16 << 20;   // of memory that goes back at a time: some 5 ms
constexpr uint64_t kAtOnceBytes = kGiveBackBytes;  // so little goes where it is asked for

/// statfs(2). The kernel writes nothing of them to a disk.
bool is_in_memory(int fd) {
  constexpr std::array<long, 2> kInMemory = {0x01021994, 0x858458f6};  // tmpfs, ramfs
  struct statfs system {};
  return ::fstatfs(fd, &system) != 0 ||
         std::ranges::find(kInMemory, system.f_type) != kInMemory.end();
}

// The memory is reserved without being counted by the system, so that a large buffer costs nothing
// until it is filled; hence a bound of our own.
uint64_t machine_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return uint64_t{1} << 32;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
}

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// May files of ours be that long? To try would kill us (SIGXFSZ).
bool file_may_end_at(uint64_t end) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         end <= limit.rlim_cur;
}

Status write_at(int fd, uint64_t offset, Bytes bytes) {
  if (!file_may_end_at(offset + bytes.size())) return errno_error(EFBIG, "limit on file sizes");
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return errno_error("cannot write to it");
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset += static_cast<size_t>(done);
  }
  return {};
}

/// Blocks for a part of the file, whose content stays. 0, or else errno.
int preallocate(int fd, uint64_t offset, uint64_t size) {
  int failed;
  do {
    failed = ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (failed != 0 && errno == EINTR);
  return failed == 0 ? 0 : errno;
}

/// The same of a part that was never written to. Some file systems have no call for it.
Status allocate(int fd, uint64_t offset, uint64_t size) {
  errno = preallocate(fd, offset, size);
  if (errno == 0) return {};
  if (errno != EOPNOTSUPP && errno != ENOSYS) return errno_error("cannot get room");
  return write_at(fd, offset, std::vector<uint8_t>(size));
}

/// Where it fails the file stays as it is.
void set_length(int fd, uint64_t bytes) { (void)!ftruncate(fd, static_cast<off_t>(bytes)); }

/// Readers have mapped it: it does not get shorter.
bool lengthen(int fd, uint64_t bytes) {
  struct stat about {};
  if (fstat(fd, &about) == 0 && static_cast<uint64_t>(about.st_size) >= bytes) return true;
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0;
}

/// False: the file system has no call for it, or the call fails.
bool punch(int fd, uint64_t offset, uint64_t size) {
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  int failed;
  do {
    failed = ::fallocate(fd, kMode, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

}  // namespace

BufferMemory::~BufferMemory() {
  back_.stop();
  ahead_.stop();
  if (memory_ != nullptr) munmap(memory_, geometry_.end);
}

Result<uint8_t*> BufferMemory::map(const ring::Geometry& geometry, const BufferFile* file) {
  if (geometry.data_bytes > machine_memory_bytes())
    return {Errc::Limit,
            fmt::format("a trace buffer of {} bytes is more than this machine's memory",
                        geometry.data_bytes)};
  const int flags = file != nullptr ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (file != nullptr && !file_may_end_at(geometry.end)) return errno_error(EFBIG, file->path());
  void* memory = mmap(nullptr, geometry.end, PROT_READ | PROT_WRITE, flags,
                      file != nullptr ? file->fd() : -1, 0);
  if (memory == MAP_FAILED)
    return errno_error(
        fmt::format("cannot get {} bytes for the trace buffer", geometry.data_bytes));
  if (file != nullptr) {
    Status status;
    if (!lengthen(file->fd(), geometry.end)) status = errno_error("cannot lengthen it");
    if (status) status = allocate(file->fd(), 0, ring::kPage);
    if (!status) {
      munmap(memory, geometry.end);
      return std::move(status).error().within(file->path());
    }
  }
  return static_cast<uint8_t*>(memory);
}

Status BufferMemory::can_be(uint64_t data_bytes) {
  const ring::Geometry geometry = ring::geometry(data_bytes);
  TW_ASSIGN_OR_RETURN(uint8_t * memory, map(geometry, file()));
  munmap(memory, geometry.end);
  return {};
}

Status BufferMemory::create(uint64_t data_bytes, uint64_t position) {
  const ring::Geometry geometry = ring::geometry(data_bytes);
  TW_ASSIGN_OR_RETURN(uint8_t * memory, map(geometry, file()));
  if (memory_ != nullptr) begin_clear(position);
  settle();
  position_ = position;
  // The place of the last text may be one of frames.
  if (file_ && can_punch_ && length_ > geometry_.end)
    can_punch_ = punch(file_->fd(), geometry_.end, length_ - geometry_.end);
  if (file_ && !can_punch_) {
    set_length(file_->fd(), ring::kPage);
    set_length(file_->fd(), geometry.end);
  }
  adopt(memory, geometry);
  return {};
}

Status BufferMemory::move_into(BufferFile file) {
  if (memory_ == nullptr) geometry_ = ring::geometry(0);
  TW_ASSIGN_OR_RETURN(uint8_t * memory, map(geometry_, &file));
  settle();
  file_ = std::move(file);
  on_disk_ = !is_in_memory(file_->fd());
  shapes_ready_ = data_ready_ = 0;
  adopt(memory, geometry_);
  return {};
}

/// What was there has gone.
void BufferMemory::adopt(uint8_t* memory, const ring::Geometry& geometry) {
  ahead_.stop();
  if (memory_ != nullptr) munmap(memory_, geometry_.end);
  memory_ = memory;
  geometry_ = geometry;
  length_ = std::max(length_, geometry.end);
  begin_clear(position_);
}

uint64_t BufferMemory::bytes_taken() const {
  return shapes_ready_ + std::max(data_ready_, ahead_.made());
}

void BufferMemory::begin_clear(uint64_t position) {
  settle();
  position_ = position;
  if (memory_ == nullptr) return;
  ring::publish(header().begin, UINT64_MAX);  // nothing is there, whatever `end` says
  ring::write_barrier();
  const uint64_t taken = bytes_taken();
  shapes_ready_ = data_ready_ = 0;
  file_end_ = geometry_.end;
  refusal_.clear();
  begin_header();
  settled_ = false;
  if (taken == 0) return settle();
  const auto piece = [this, at = uint64_t{0}]() mutable { return give_back(at); };
  if (on_disk_ || taken > kAtOnceBytes) back_.start(piece);
  else PagesBack::run(piece);
  if (back_.ended()) settle();
}

/// What stands before `at` (0: all of it) is to go, one piece of it now. Is there more? Where it
/// fails the file stays as it is, and no page of it is touched unasked.
bool BufferMemory::give_back(uint64_t& at) {
  if (at == 0) {
    ahead_.stop();
    at = file_ ? length_ : geometry_.end;
  }
  if (at <= ring::kPage) return false;
  const uint64_t from = std::max(ring::kPage, at - std::min(at, kGiveBackBytes));
  if (!file_) {
    madvise(memory_ + from, at - from, MADV_DONTNEED);
  } else {
    const int fd = file_->fd();
    if (can_punch_) can_punch_ = punch(fd, from, at - from);
    // Whoever reads the file meanwhile finds it cut.
    if (!can_punch_) set_length(fd, from);
    if (!can_punch_ && from == ring::kPage) set_length(fd, geometry_.end);
  }
  at = from;
  return at > ring::kPage;
}

bool BufferMemory::settled() {
  if (!settled_ && back_.ended()) settle();
  return settled_;
}

void BufferMemory::settle() {
  if (settled_) return;
  back_.wait();
  settled_ = true;
  ring::publish(header().begin, position_);
}

/// All of it, but for `begin`.
void BufferMemory::begin_header() {
  ring::Header& head = header();
  head.version = ring::kVersion;
  head.slot_bytes = sizeof(ring::FrameShape);
  head.table_offset = geometry_.table_offset;
  head.table_slots = ring::Geometry::kShapes;
  head.data_offset = geometry_.data_offset;
  head.data_bytes = geometry_.data_bytes;
  head.agent_pid = server_ != 0 ? server_ : getpid();
  head.created_ns = now_ns();
  ring::publish(head.texts_written, head.texts_written + 1);
  ring::write_barrier();
  head.texts[0] = head.texts[1] = {};
  ring::publish(head.text_current, uint32_t{0});
  set_machine(register_block_bytes_, endian_);
  ring::publish(head.shapes, uint64_t{0});
  ring::publish(head.next, uint64_t{0});
  ring::publish(head.first, uint64_t{0});
  ring::publish(head.end, position_);
  ring::publish(head.lost, uint64_t{0});
  ring::write_barrier();
  std::memcpy(head.magic, ring::kMagic, sizeof head.magic);
}

void BufferMemory::set_machine(uint32_t register_block_bytes, Endian endian) {
  register_block_bytes_ = register_block_bytes;
  endian_ = endian;
  if (memory_ == nullptr) return;
  header().register_block_bytes = register_block_bytes;
  header().big_endian = endian == Endian::Big ? 1 : 0;
}

uint64_t BufferMemory::bytes_to_come() const {
  if (memory_ == nullptr || on_disk_) return 0;
  return geometry_.data_bytes - std::min(geometry_.data_bytes, data_ready_);
}

void BufferMemory::make_ahead() {
  settle();
  if (!file_ || memory_ == nullptr) return;
  const uint64_t room = geometry_.end - geometry_.data_offset;
  const auto make = [fd = file_->fd(), at = geometry_.data_offset, memory = memory_](
                        uint64_t begin, uint64_t end) {
    // Not by zeros, where there is no call for it: there may be frames by now.
    if (preallocate(fd, at + begin, end - begin) != 0) return false;
    return ::madvise(memory + at + begin, end - begin, kPopulateWrite) == 0;
  };
  ahead_.start(make, data_ready_, room);
}

bool BufferMemory::make_ready(uint64_t data) {
  settle();
  ahead_.advance(data);
  data_ready_ = std::max(data_ready_, std::min(ahead_.made(), data + kStepBytes));
  if (data <= data_ready_) return true;
  return extend(geometry_.data_offset, geometry_.end - geometry_.data_offset, data, data_ready_);
}

bool BufferMemory::add_shape(const ring::FrameShape& shape) {
  settle();
  const uint64_t number = shape_count(), end = (number + 1) * sizeof shape;
  const uint64_t room = geometry_.data_offset - geometry_.table_offset;
  if (number == ring::Geometry::kShapes) {
    refusal_ = "the trace buffer has no room for what frames of one more place have in common";
    return false;
  }
  if (end > shapes_ready_ && !extend(geometry_.table_offset, room, end, shapes_ready_, ring::kPage))
    return false;
  shapes()[number] = shape;
  ring::publish(header().shapes, number + 1);
  return true;
}

/// Makes `ready`, which is whole pages, at least `wanted`; in steps, but where the file system has
/// no room for a step any more, for this frame alone.
bool BufferMemory::extend(uint64_t area, uint64_t area_bytes, uint64_t wanted, uint64_t& ready,
                          uint64_t step_bytes) {
  if (wanted <= ready) return true;
  for (const uint64_t step : {step_bytes, ring::kPage}) {
    const uint64_t end = std::min(area_bytes, (wanted + step - 1) / step * step);
    if (!reserve(area + ready, end - ready)) continue;
    ready = end;
    return true;
  }
  return false;
}

bool BufferMemory::reserve(uint64_t offset, uint64_t size) {
  if (!file_) return true;
  if (Status status = allocate(file_->fd(), offset, size); !status) {
    refusal_ = fmt::format("trace buffer {}: {}", file_->path(), status.error().message);
    return false;
  }
  // One call instead of a fault for each page. Linux before 5.14 does not know it.
  (void)madvise(memory_ + offset, size, kPopulateWrite);
  return true;
}

void BufferMemory::set_lost(uint64_t hits) {
  if (memory_ == nullptr) return;  // there was none to be had
  if (header().lost != hits) ring::publish(header().lost, hits);
}

void BufferMemory::abandon() {
  if (!file_) return;
  ring::publish(header().abandoned, uint32_t{1});
  file_->keep();
}

Status BufferMemory::describe(Bytes text) {
  if (!file_) return {};
  settle();
  ring::Header& head = header();
  const uint32_t other = 1 - head.text_current;
  ring::Text& to = head.texts[other];
  if (to.room < text.size()) {
    to = {file_end_, 0, (2 * text.size() + ring::kPage - 1) / ring::kPage * ring::kPage};
    file_end_ += to.room;
    length_ = std::max(length_, file_end_);
  }
  if (Status status = write_at(file_->fd(), to.offset, text); !status)
    return std::move(status).error().within("trace buffer " + file_->path());
  to.size = text.size();
  ring::publish(head.text_current, other);
  ring::publish(head.texts_written, head.texts_written + 1);
  return {};
}

}  // namespace tracewell::agent
