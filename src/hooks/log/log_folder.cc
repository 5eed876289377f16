#include "hooks/log/log_folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/files/file_lock.h"
#include "base/files/open.h"
#include "base/text/text.h"
#include "hooks/log/holes.h"
#include "model/lost_count.h"
#include "ring/hook_packet.h"
#include "ring/ring_name.h"

namespace tracewell::hooks {
namespace {

constexpr uint64_t kPartsMin = 16;  // that a limited log consists of
constexpr uint64_t kPartBytesMax = 256 << 20;
constexpr std::string_view kMarksName = "0-0.0";
constexpr std::chrono::seconds kOtherMarksMost{10};  // to wait for somebody else's
constexpr off_t kMarksRoom = 16 << 10;  // bytes, for some 50
constexpr size_t kOpenMax = 64;  // files; a program may have thousands of threads

/// One system call, where the file takes it all: what is behind `head` may be a large packet.
Status write_all(int fd, Bytes head, Bytes rest, const Folder& folder, const std::string& name) {
  std::vector<uint8_t> copied;
  while (!head.empty() || !rest.empty()) {
    const auto piece = [](Bytes bytes) {
      return iovec{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    };
    const iovec pieces[] = {piece(head), piece(rest)};
    const ssize_t done = ::writev(fd, pieces, 2);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EFAULT && copied.empty()) {
      // Out of a mapping whose file was cut just now. What is missing there reads as zeros.
      copied.assign(rest.begin(), rest.end());
      rest = copied;
      continue;
    }
    if (done <= 0) return errno_error("cannot write " + printable(folder.path_of(name)));
    const size_t of_head = std::min(static_cast<size_t>(done), head.size());
    head = head.subspan(of_head);
    rest = rest.subspan(static_cast<size_t>(done) - of_head);
  }
  return {};
}

/// The same at the end of a file that is open for appending. Of a packet out of a core file nearly
/// all may be zeros that are nowhere on the disk: they are passed over, and so nowhere in the log.
Status write_packet(int fd, Bytes head, Bytes records, const Folder& folder,
                    const std::string& name) {
  constexpr size_t kPagesMin = 4;  // a hole costs two system calls
  do {
    const ZeroRun zeros = find_zeros(records, kPagesMin);
    TW_RETURN_IF_ERROR(write_all(fd, head, records.first(zeros.at), folder, name));
    head = {};
    records = records.subspan(zeros.at + zeros.bytes);
    if (zeros.bytes == 0) break;
    TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd, folder.path_of(name)));
    if (::ftruncate(fd, static_cast<off_t>(facts.bytes + zeros.bytes)) != 0)
      return errno_error("cannot write " + printable(folder.path_of(name)));
  } while (!records.empty());
  return {};
}

std::vector<uint8_t> mark_record(std::string_view text, uint64_t ticks) {
  constexpr size_t kTextMax = 1024;
  text = text.substr(0, kTextMax);
  std::vector<uint8_t> record;
  ByteWriter out(record, Endian::Little);
  out.uint(TRACEWELL_RECORD_MARK, 1);
  out.uint(0, 1);
  out.uint(ticks, 6);
  out.uint(text.size(), 2);
  out.bytes(as_bytes(text));
  record.resize((record.size() + 3) / 4 * 4);
  return record;
}

/// All of an open file, wherever its descriptor stands.
Result<std::shared_ptr<InputFile>> read_again(const UniqueFd& fd, const std::string& path) {
  UniqueFd again(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!again.valid()) return errno_error("cannot read " + printable(path));
  return InputFile::of(std::move(again), path);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// A file that may not grow further (ulimit -f) is followed by another one.
uint64_t part_bytes(uint64_t log_bytes) {
  struct rlimit one {};
  const uint64_t may = ::getrlimit(RLIMIT_FSIZE, &one) == 0 ? one.rlim_cur : RLIM_INFINITY;
  const uint64_t fits = std::min(kPartBytesMax, may);
  return log_bytes == 0 ? fits : std::min(fits, log_bytes / kPartsMin);
}

}  // namespace

bool is_stream_name(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos || !is_number(name.substr(dot + 1))) return false;
  const auto numbers = split(name.substr(0, dot), '-');
  return (numbers.size() == 2 || numbers.size() == 3) && std::ranges::all_of(numbers, is_number);
}

LogFolder::LogFolder(const Folder& folder, const Limits& limits)
    : folder_(&folder),
      limits_(limits),
      part_bytes_(part_bytes(limits.bytes)),
      full_(limits.full) {}

Result<LogFolder> LogFolder::open(const Folder& folder, const Limits& limits) {
  LogFolder out(folder, limits);
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.names());
  for (const std::string& name : names)
    if (name != kMarksName && is_stream_name(name)) TW_RETURN_IF_ERROR(out.look_at(name));
  return out;
}

Status LogFolder::look_at(const std::string& name) {
  const std::string path = folder_->path_of(name);
  bool old = false;
  Part part{name, 0, 0, 0};
  {
    TW_ASSIGN_OR_RETURN(const UniqueFd fd, folder_->open_own(name, Folder::Make::No));
    TW_ASSIGN_OR_RETURN(const auto file, read_again(fd, path));
    const Bytes bytes = file->bytes();
    while (part.bytes < bytes.size()) {
      const auto head = ring::read_hook_packet(bytes.subspan(part.bytes));
      if (!head || head->packet_bits / 8 > bytes.size() - part.bytes) break;
      part.bytes += head->packet_bits / 8;
      part.records += head->records;
      part.stream = head->stream;
      old |= head->stream_id != TRACEWELL_PACKET_STREAM;
      Stream& stream = streams_[head->stream];
      stream.pid = head->pid;
      stream.ring = head->ring;
      stream.next_number = std::max(stream.next_number, head->number + 1);
      stream.ticks_end = std::max(stream.ticks_end, head->ticks_end);
      stream.lost = stream.lost_here = std::max(stream.lost, lost_count(head->lost));
      stream.overwritten = stream.overwritten_here =
          std::max(stream.overwritten, lost_count(head->overwritten));
      stream.has_ended = true;  // unless more comes
    }
    if (part.bytes < bytes.size() && ::ftruncate(fd.get(), static_cast<off_t>(part.bytes)) != 0)
      return errno_error("cannot write " + printable(path));
  }
  if (old) TW_RETURN_IF_ERROR(declare_packets(*folder_));
  bytes_ += part.bytes;
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos) {
    const auto number = parse_number(std::string_view(name).substr(dot + 1));
    uint32_t& next = streams_[part.stream].next_part;
    if (number && *number < UINT32_MAX) next = std::max(next, static_cast<uint32_t>(*number) + 1);
  }
  ++streams_[part.stream].parts;
  parts_.push_back(std::move(part));
  return {};
}

uint64_t LogFolder::stream_of(uint64_t stream, uint32_t pid, uint32_t ring) const {
  return ring::hook_stream_in_log(stream, pid, ring, [&](uint64_t one) {
    const auto found = streams_.find(one);
    if (found == streams_.end()) return ring::StreamOwner::Nobody;
    const bool own = found->second.pid == pid && found->second.ring == ring;
    return own ? ring::StreamOwner::ThisRing : ring::StreamOwner::Another;
  });
}

uint64_t LogFolder::next_number(uint64_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.next_number;
}

uint64_t LogFolder::ticks_end(uint64_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.ticks_end;
}

bool LogFolder::has(const tracewell_packet& head) {
  const auto found = streams_.find(head.stream);
  if (found == streams_.end() || head.number >= found->second.next_number) return false;
  if (head.ticks_begin > found->second.ticks_end) mistaken_ += head.records;
  return true;
}

/// The number behind those of process and ring is what no other process has.
void LogFolder::begin_part(const tracewell_packet& head, Stream& stream) {
  const std::string who =
      head.identity[1] == 0 ? std::string() : fmt::format("-{}", head.identity[1]);
  parts_.push_back({fmt::format("{}-{}{}.{}", head.pid, head.ring, who, stream.next_part++),
                    head.stream, 0, 0});
  stream.part = &parts_.back();
  ++stream.parts;
  stream.file.reset();
}

Status LogFolder::open_part(uint64_t id, Stream& stream) {
  if (stream.file.valid()) return {};
  TW_ASSIGN_OR_RETURN(stream.file, folder_->open_own(stream.part->name, Folder::Make::IfMissing,
                                                     0600, true));
  unsynced_.insert(stream.part->name);
  if (std::ranges::find(opened_, id) != opened_.end()) return {};
  opened_.push_back(id);
  if (opened_.size() > kOpenMax) {
    streams_[opened_.front()].file.reset();
    opened_.pop_front();
  }
  return {};
}

/// The oldest parts go; where that is not wanted, the log is full.
Status LogFolder::make_room(uint64_t bytes) {
  if (limits_.bytes == 0 || bytes_ + bytes <= limits_.bytes) return {};
  full_ = limits_.stop_when_full;
  while (!full_ && !parts_.empty() && bytes_ + bytes > limits_.bytes) {
    const bool takes_more = streams_[parts_.front().stream].part == &parts_.front();
    const Part oldest = std::move(parts_.front());
    parts_.pop_front();
    const Status removed = folder_->remove(oldest.name);
    if (!removed.ok() && removed.error().code != Errc::NotFound) return removed;
    unsynced_.erase(oldest.name);
    part_goes(oldest, takes_more);
  }
  return {};
}

/// `takes_more`: it was the one that packets of its stream are appended to.
void LogFolder::part_goes(const Part& part, bool takes_more) {
  bytes_ -= part.bytes;
  set_dropped(dropped_ + part.records);
  Stream& stream = streams_[part.stream];
  if (takes_more) {
    stream.part = nullptr;
    stream.file.reset();
  }
  if (--stream.parts != 0) return;
  if (stream.has_ended) drop_losses(stream, stream.lost_here + stream.overwritten_here);
  stream.lost_here = stream.overwritten_here = 0;
}

void LogFolder::set_dropped(uint64_t records) {
  dropped_ = records;
  if (dropped_kept_ != nullptr) std::atomic_ref(*dropped_kept_).store(records);
}

uint64_t LogFolder::take_dropped() {
  const uint64_t out = dropped_;
  set_dropped(0);
  return out;
}

void LogFolder::count_dropped_in(uint64_t& word) {
  dropped_kept_ = &word;
  set_dropped(dropped_ + lost_count(std::atomic_ref(word).load()));
}

void LogFolder::drop_losses(Stream& stream, uint64_t lost) {
  set_dropped(dropped_ + lost);
  stream.lost_dropped += lost;
}

void LogFolder::stream_ends(uint64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || std::exchange(found->second.has_ended, true)) return;
  const Stream& one = found->second;
  drop_losses(found->second, one.lost - one.lost_here + one.overwritten - one.overwritten_here);
}

uint64_t LogFolder::untold_losses(uint64_t stream, uint64_t lost, uint64_t overwritten) const {
  const auto found = streams_.find(stream);
  lost = lost_count(lost);
  overwritten = lost_count(overwritten);
  if (found == streams_.end()) return lost + overwritten;
  return lost - std::min(lost, found->second.lost_here) + overwritten -
         std::min(overwritten, found->second.overwritten_here);
}

Status LogFolder::append(const tracewell_packet& head, Bytes records) {
  const uint64_t bytes = sizeof head + records.size();
  Stream& stream = streams_[head.stream];
  stream.pid = head.pid;
  stream.ring = head.ring;
  stream.lost = std::max(stream.lost, lost_count(head.lost));
  stream.overwritten = std::max(stream.overwritten, lost_count(head.overwritten));
  if (std::exchange(stream.has_ended, false))  // it goes on, and its next packet tells of all
    set_dropped(dropped_ - std::min(dropped_, std::exchange(stream.lost_dropped, 0)));
  if (!full_) TW_RETURN_IF_ERROR(make_room(bytes));
  if (full_) {
    set_dropped(dropped_ + head.records);
    return {};
  }
  if (!stream.part || stream.part->bytes + bytes > part_bytes_) begin_part(head, stream);
  TW_RETURN_IF_ERROR(open_part(head.stream, stream));
  TW_RETURN_IF_ERROR(
      write_packet(stream.file.get(), {reinterpret_cast<const uint8_t*>(&head), sizeof head},
                   records, *folder_, stream.part->name));
  stream.part->bytes += bytes;
  stream.part->records += head.records;
  stream.lost_here = stream.lost;
  stream.overwritten_here = stream.overwritten;
  bytes_ += bytes;
  stream.next_number = head.number + 1;
  stream.ticks_end = std::max(stream.ticks_end, head.ticks_end);
  return {};
}

Status LogFolder::sync() {
  for (const std::string& name : unsynced_) {
    TW_ASSIGN_OR_RETURN(const UniqueFd fd, folder_->open_own(name, Folder::Make::No));
    if (::fsync(fd.get()) != 0)
      return errno_error("cannot sync " + printable(folder_->path_of(name)));
  }
  unsynced_.clear();
  for (const uint64_t id : opened_)
    if (const Stream& stream = streams_[id]; stream.file.valid())
      unsynced_.insert(stream.part->name);
  return folder_->sync();
}

namespace {

/// Those that came since. The file is only appended to.
Status look_at_marks(const UniqueFd& fd, const std::string& path, MarksSeen& seen) {
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd.get(), path));
  if (facts.device != seen.device || facts.inode != seen.inode || facts.bytes < seen.bytes) {
    seen = {};
    seen.device = facts.device;
    seen.inode = facts.inode;
  }
  if (facts.bytes == seen.bytes) return {};
  TW_ASSIGN_OR_RETURN(const auto file, read_again(fd, path));
  for (Bytes rest = file->bytes().subspan(seen.bytes);
       const auto one = ring::read_hook_packet(rest);) {
    const uint64_t bytes = std::min<uint64_t>(one->packet_bits / 8, rest.size());
    ++seen.number;
    seen.stream_id = one->stream_id;
    seen.ticks = std::max(seen.ticks, one->ticks_end);
    seen.bytes += bytes;
    rest = rest.subspan(bytes);
  }
  return {};
}

}  // namespace

Status add_mark(const Folder& log, const Uuid& uuid, std::string_view text, uint64_t ticks,
                MarksSeen* known) {
  const std::string name(kMarksName);
  MarksSeen none;
  MarksSeen& seen = known != nullptr ? *known : none;
  TW_ASSIGN_OR_RETURN(const UniqueFd fd, log.open_own(name, Folder::Make::IfMissing, 0600, true));
  // Of two with one number, readers would take the second for the first.
  TW_RETURN_IF_ERROR(wait_and_lock_file(fd.get(), kOtherMarksMost));
  TW_RETURN_IF_ERROR(look_at_marks(fd, log.path_of(name), seen));
  ticks = std::max(ticks, seen.ticks);
  tracewell_packet head{};
  head.magic = TRACEWELL_PACKET_MAGIC;
  head.stream_id = seen.stream_id;
  head.number = seen.number;
  head.record_bytes_max = TRACEWELL_RECORD_BYTES_MAX;
  std::memcpy(head.uuid, uuid.data(), uuid.size());
  head.ticks_begin = head.ticks_end = ticks;
  const std::vector<uint8_t> record = mark_record(text, ticks);
  const uint32_t head_bytes = ring::hook_head_bytes(head);
  head.packet_bits = head.content_bits = (head_bytes + record.size()) * 8;
  head.state = TRACEWELL_PACKET_WHOLE;
  TW_RETURN_IF_ERROR(write_all(fd.get(), {reinterpret_cast<const uint8_t*>(&head), head_bytes},
                               record, log, name));
  // Not every file system can.
  static_cast<void>(::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(seen.bytes + head_bytes + record.size()),
                                kMarksRoom));
  return {};
}

void each_mark(const Folder& log, const Uuid& uuid,
               const std::function<void(std::string_view)>& visit) {
  const auto file = log.read(std::string(kMarksName));
  if (!file.ok()) return;
  for (Bytes rest = (*file)->bytes(); const auto head = ring::read_hook_packet(rest);) {
    const Bytes packet = rest.first(std::min<uint64_t>(rest.size(), head->packet_bits / 8));
    rest = rest.subspan(packet.size());
    if (std::memcmp(head->uuid, uuid.data(), uuid.size()) != 0) continue;
    ring::HookWalk walk(packet, false, ring::hook_head_bytes(*head));
    for (ring::HookRecord record; walk.next(record);)
      if (record.id == TRACEWELL_RECORD_MARK) visit(as_text(record.data));
  }
}

Status give_back_room(const Folder& log) {
  const std::string name(kMarksName);
  const auto fd = log.open_own(name, Folder::Make::No);
  if (!fd.ok()) return fd.error().code == Errc::NotFound ? Status() : fd.error();
  TW_RETURN_IF_ERROR(wait_and_lock_file(fd->get(), kOtherMarksMost));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd->get(), log.path_of(name)));
  if (::ftruncate(fd->get(), static_cast<off_t>(facts.bytes)) != 0)
    return errno_error("cannot write " + printable(log.path_of(name)));
  return {};
}

uint64_t ticks_of_begin(const Folder& log) {
  const auto file = log.read(std::string(kMarksName));
  if (!file.ok()) return 0;
  const Bytes bytes = (*file)->bytes();
  const auto head = ring::read_hook_packet(bytes);
  if (!head) return 0;
  ring::HookWalk walk(bytes.first(std::min<uint64_t>(bytes.size(), head->packet_bits / 8)), false,
                      ring::hook_head_bytes(*head));
  ring::HookRecord record;
  const bool is_begin = walk.next(record) && record.id == TRACEWELL_RECORD_MARK &&
                        as_text(record.data).starts_with("TRACE ON ");
  return is_begin ? head->ticks_begin : 0;
}

}  // namespace tracewell::hooks
