#include "hooks/rings/ring_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/open.h"
#include "base/text/text.h"
#include "hooks/log/log_folder.h"
#include "hooks/programs/own_process.h"
#include "model/lost_count.h"
#include "ring/hook_packet.h"
#include "ring/ring_name.h"

namespace tracewell::hooks {
namespace {

template <class Number>
Number load(const Number& number) {
  return std::atomic_ref(const_cast<Number&>(number)).load(std::memory_order_acquire);
}
template <class Number>
void store_released(Number& number, Number value) {
  std::atomic_ref(number).store(value, std::memory_order_release);
}

const tracewell_packet& head_of(const uint8_t* packet) {
  return *reinterpret_cast<const tracewell_packet*>(packet);
}

/// Has nobody written to the file since its program made room for it? Of memory that somebody gave
/// back (MADV_REMOVE) the room is gone, too.
bool is_untouched(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0 || ::lseek(fd, 0, SEEK_DATA) >= 0 || errno != ENXIO) return false;
  constexpr int64_t kBlockBytes = 512;  // stat(2)
  return about.st_blocks * kBlockBytes >= about.st_size;
}

/// Not before what was read until now was written.
uint64_t ticks_now() {
  _mm_lfence();
  return __rdtsc();
}

/// How the path of a ring ends in a program's mappings, wherever its log was moved to.
std::string end_of_path(const std::string& name) {
  return fmt::format("/{}/{}", kRingsName, name);
}

}  // namespace

bool process_lives(uint32_t pid, uint64_t start) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
  const uint64_t now = start == 0 ? 0 : start_of_process(pid);
  return now == 0 || now == start;
}

Result<std::unique_ptr<RingFile>> RingFile::open(const Folder& folder, const std::string& name,
                                                 bool* untouched) {
  const std::string path = printable(folder.path_of(name));
  const auto fd = folder.open_own(name, Folder::Make::No);
  // A collector writes to it.
  if (!fd.ok() && fd.error().code == Errc::InvalidArgument)
    return {Errc::Corrupt,
            fmt::format("{} is no file that a program made for its hooks ({})", path,
                        fd.error().message)};
  if (!fd.ok()) return {Errc::Io, fd.error().message};
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd->get(), path));
  if (untouched != nullptr) *untouched = is_untouched(fd->get());
  const size_t size = std::min<uint64_t>(facts.bytes, kRingBytesMax);
  if (size < TRACEWELL_HOOK_PAGE) return {Errc::Truncated, path + " is not there yet"};
  std::unique_ptr<RingFile> out(new RingFile);
  TW_ASSIGN_OR_RETURN(out->map_, Mapping::map(fd->get(), size, Mapping::Access::Shared, path));
  // Of a ring that is mostly holes, nobody is to make memory out of what is beside a packet's head.
  static_cast<void>(::madvise(out->map_.data(), size, MADV_RANDOM));
  const bool begun = load(out->ring().magic) != 0;
  std::memcpy(&out->head_, out->map_.data(), sizeof out->head_);
  if (!begun) return {Errc::Truncated, path + " is not there yet"};
  if (out->head_.magic == TRACEWELL_RING_MAGIC && !ring::is_known_ring(out->head_))
    return {Errc::Unsupported,
            fmt::format("{} is of version {} of rings, and this release reads {} and {}", path,
                        out->head_.version, TRACEWELL_RING_VERSION_OLD, TRACEWELL_RING_VERSION)};
  out->slots_ = out->head_.slots;
  out->packet_bytes_ = out->head_.packet_bytes;
  const bool sound = ring::is_known_ring(out->head_) && ring::take_ring_name(name, out->head_) &&
                     out->slots_ <= TRACEWELL_RING_SLOTS_MAX &&
                     out->packet_bytes_ >= TRACEWELL_PACKET_BYTES_MIN &&
                     out->packet_bytes_ <= TRACEWELL_PACKET_BYTES_MAX &&
                     TRACEWELL_HOOK_PAGE + uint64_t{out->slots_} * out->packet_bytes_ <= size;
  if (!sound) return {Errc::Corrupt, path + " is no ring of trace hooks"};
  out->identity_ = ring::hook_stream(out->head_) - out->head_.number;
  out->name_ = name;
  out->look_at_process();
  return out;
}

/// The head says when its process began, but who has that memory may write there that a process
/// which lives is another. What a process has mapped, the kernel says.
void RingFile::look_at_process() {
  here_ = head_.pid;
  seen_start_ = start_of_process(here_);
  const bool is_told_apart = seen_start_ != 0 && head_.start != 0;
  if (is_told_apart && head_.start == seen_start_) return;
  orphaned_ = is_told_apart ? !has_mapped(here_, end_of_path(name_)).value_or(true)
                            : !hooks::process_lives(here_, 0);
  unsettled_ = orphaned_;
}

void RingFile::settle(const NestedProcesses& nested) {
  if (!std::exchange(unsettled_, false)) return;
  const uint32_t here = nested.find(head_.pid, end_of_path(name_));
  if (here == 0) return;
  here_ = here;
  seen_start_ = start_of_process(here);
  orphaned_ = false;
}

bool RingFile::process_lives() const {
  return unsettled_ || (!orphaned_ && hooks::process_lives(here_, seen_start_));
}

void RingFile::set_stream(uint64_t stream) { identity_ = stream - head_.number; }

bool RingFile::is_of(std::span<const uint8_t> session) const {
  return std::ranges::equal(head_.uuid, session);
}

const uint8_t* RingFile::packet_at(uint32_t slot) const {
  return map_.data() + TRACEWELL_HOOK_PAGE + size_t{slot} * packet_bytes_;
}

std::vector<RingFile::Waiting> RingFile::waiting() const {
  std::vector<Waiting> out;
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    const tracewell_packet& head = head_of(packet_at(slot));
    const uint32_t state = load(head.state);
    if (state == 0 || TRACEWELL_PACKET_STATE(state) == TRACEWELL_PACKET_DROPPED ||
        head.number + 1 == ring().taken[slot])
      continue;
    out.push_back({head.number, slot, state});
  }
  std::ranges::sort(out, {}, &Waiting::number);
  return out;
}

uint64_t RingFile::lost_by(const tracewell_packet& head) const {
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    const tracewell_packet& other = head_of(packet_at(slot));
    if (load(other.state) != 0 && other.number > head.number) return head.lost;
  }
  return std::max<uint64_t>(head.lost, ring().lost);
}

uint64_t RingFile::being_dropped() const {
  uint64_t out = 0;
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    const uint32_t state = load(head_of(packet_at(slot)).state);
    if (TRACEWELL_PACKET_STATE(state) == TRACEWELL_PACKET_DROPPED) out += state >> 8;
  }
  return out;
}

uint32_t RingFile::head_bytes() const {
  return head_.version == TRACEWELL_RING_VERSION_OLD ? TRACEWELL_PACKET_HEAD_2
                                                     : TRACEWELL_PACKET_HEAD;
}

tracewell_packet RingFile::read_head(const uint8_t* from) const {
  tracewell_packet out{};
  std::memcpy(&out, from, head_bytes());
  return out;
}

/// As packets of this release are, whatever its program's was.
void RingFile::finish(tracewell_packet& head, uint64_t record_bytes) const {
  head.magic = TRACEWELL_PACKET_MAGIC;
  std::memcpy(head.uuid, head_.uuid, sizeof head.uuid);
  head.stream_id = TRACEWELL_PACKET_STREAM;
  head.ring = head_.number;
  head.stream = stream();
  if (identity_ != ring::hook_stream(head_) - head_.number) head.identity[1] = identity_;
  head.packet_bits = head.content_bits = (sizeof head + record_bytes) * 8;
  head.state = TRACEWELL_PACKET_WHOLE;
}

/// What is not of the ring, but stands in it, is lost: whose it was, nobody can tell.
RingFile::Taken RingFile::lose(tracewell_packet head, const Within& within,
                               std::vector<uint8_t>& out) const {
  Taken taken;
  taken.bounded = bound_times(head, false, within);
  taken.unfinished = std::max<uint64_t>(1, std::min(head.records, packet_bytes_ / 12));
  head.identity[0] = head_.identity[0];
  head.identity[1] = head_.identity[1];
  head.pid = head_.pid;
  head.records = 0;
  head.lost = lost_sum(ring().lost, lost_sum(ring().unfinished, taken.unfinished));
  finish(head, 0);
  out.resize(sizeof head);
  std::memcpy(out.data(), &head, sizeof head);
  return taken;
}

/// It is copied before it is looked at: who has this memory may write to it at any time.
RingFile::Taken RingFile::copy(const Waiting& packet, bool keep_unfinished,
                               std::vector<uint8_t>& out, const Within& log) const {
  Taken taken;
  const uint8_t* from = packet_at(packet.slot);
  const uint32_t content = static_cast<uint32_t>(
      std::min<uint64_t>(load(head_of(from).content_bits) / 8, packet_bytes_));
  const bool open = content < head_bytes();
  const uint32_t bytes = open ? packet_bytes_ : content;
  // The log's head may be longer: the records are copied to where they are behind that.
  const size_t before = sizeof(tracewell_packet) - head_bytes();
  out.resize(before + bytes);
  std::memcpy(out.data() + before, from, bytes);
  tracewell_packet head = read_head(out.data() + before);
  std::atomic_thread_fence(std::memory_order_acquire);
  const tracewell_packet& now = head_of(from);
  if (TRACEWELL_PACKET_STATE(load(now.state)) == TRACEWELL_PACKET_DROPPED ||
      now.number != packet.number || head.number != packet.number ||
      // Its slot was begun anew between the looks at its state and at its number.
      (open && packet.state != TRACEWELL_PACKET_OPEN)) {
    taken.changed = true;
    return taken;
  }
  Within within = log;
  within.last = std::max({within.last, within.first, ticks_now()});
  if (!ring::is_of_ring(head, head_)) return lose(head, within, out);
  head.records = std::min(head.records, packet_bytes_ / 12);
  taken.bounded = bound_times(head, open, within);
  if (head.state != TRACEWELL_PACKET_WHOLE ||
      !are_sound(Bytes(out).subspan(sizeof head), head, within)) {
    std::vector<uint8_t> kept(out.begin() + sizeof head, out.end());
    const Kept sound = keep_sound(kept, open, head, within);
    taken.unfinished = sound.left_out;
    taken.bounded |= sound.bounded;
    if (taken.unfinished != 0 && keep_unfinished) return taken;
    out.resize(sizeof head);
    out.insert(out.end(), kept.begin(), kept.end());
  }
  head.lost = lost_sum(lost_by(head), lost_sum(ring().unfinished, taken.unfinished));
  head.overwritten = lost_sum(head.overwritten, being_dropped());
  finish(head, out.size() - sizeof head);
  std::memcpy(out.data(), &head, sizeof head);
  return taken;
}

void keep_apart(RingFile& ring, const LogFolder& log) {
  ring.set_stream(log.stream_of(ring.stream(), ring.pid(), ring.number()));
}

void RingFile::release(const Waiting& packet, const Taken& taken) {
  ring().unfinished += taken.unfinished;
  store_released(ring().taken[packet.slot], packet.number + 1);
  store_released(ring().releases, ring().releases + 1);
}

}  // namespace tracewell::hooks
