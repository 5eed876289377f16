#include "hooks/ring_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "ring/hook_packet.h"

namespace tracewell::hooks {
namespace {

using Kind = ring::HookRecord::Kind;

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

/// Leaves out what is not finished. Returns how many records that were.
uint64_t compact(std::vector<uint8_t>& packet, bool open, tracewell_packet& head) {
  ring::HookWalk walk(packet, open);
  ring::HookRecord record;
  std::vector<uint8_t> kept(packet.begin(), packet.begin() + TRACEWELL_PACKET_HEAD);
  uint32_t committed = 0;
  uint64_t unfinished = 0;
  while (walk.next(record)) {
    if (record.kind != Kind::Committed) {
      ++unfinished;
      continue;
    }
    committed += record.word_bytes != 0;
    head.ticks_end = std::max(head.ticks_end, ring::hook_ticks(head.ticks_begin, record.ticks));
    const auto from = packet.begin() + record.at;
    kept.insert(kept.end(), from, from + record.bytes);
  }
  if (!open && head.records > committed) unfinished = head.records - committed;
  head.records = committed;
  packet = std::move(kept);
  return unfinished;
}

}  // namespace

Result<std::unique_ptr<RingFile>> RingFile::open(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about {};
  if (!fd.valid() || ::fstat(fd.get(), &about) != 0) return errno_error("cannot open " + path);
  const auto size = static_cast<size_t>(about.st_size);
  if (size < TRACEWELL_HOOK_PAGE) return {Errc::Truncated, path + " is not there yet"};
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return errno_error("cannot map " + path);
  std::unique_ptr<RingFile> out(new RingFile);
  out->data_ = static_cast<uint8_t*>(data);
  out->size_ = size;
  if (load(out->ring().magic) == 0) return {Errc::Truncated, path + " is not there yet"};
  out->slots_ = out->ring().slots;
  out->packet_bytes_ = out->ring().packet_bytes;
  const bool sound = out->ring().magic == TRACEWELL_RING_MAGIC &&
                     out->ring().version == TRACEWELL_RING_VERSION &&
                     out->slots_ <= TRACEWELL_RING_SLOTS_MAX &&
                     out->packet_bytes_ >= TRACEWELL_PACKET_BYTES_MIN &&
                     out->packet_bytes_ <= TRACEWELL_PACKET_BYTES_MAX &&
                     TRACEWELL_HOOK_PAGE + uint64_t{out->slots_} * out->packet_bytes_ <= size;
  if (!sound) return {Errc::Corrupt, path + " is no ring of trace hooks"};
  return out;
}

RingFile::~RingFile() {
  if (data_) ::munmap(data_, size_);
}

bool RingFile::process_lives() const {
  return ::kill(static_cast<pid_t>(ring().pid), 0) == 0 || errno != ESRCH;
}

bool RingFile::is_of(std::span<const uint8_t> session) const {
  return std::ranges::equal(ring().uuid, session);
}

const uint8_t* RingFile::packet_at(uint32_t slot) const {
  return data_ + TRACEWELL_HOOK_PAGE + size_t{slot} * packet_bytes_;
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

std::optional<RingFile::InPlace> RingFile::in_place(const Waiting& packet) const {
  const uint8_t* at = packet_at(packet.slot);
  // The number first: once it is there, the state that the slot's earlier packet had is gone.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (circular() || load(head_of(at).state) != TRACEWELL_PACKET_WHOLE) return std::nullopt;
  InPlace out{head_of(at), {}};
  const uint64_t content = out.head.content_bits / 8;
  if (out.head.number != packet.number || content < sizeof out.head || content > packet_bytes_)
    return std::nullopt;
  out.records = Bytes(at, content).subspan(sizeof out.head);
  out.head.lost = lost_by(out.head) + ring().unfinished;
  out.head.packet_bits = out.head.content_bits = content * 8;
  return out;
}

RingFile::Taken RingFile::copy(const Waiting& packet, bool keep_unfinished,
                               std::vector<uint8_t>& out) const {
  Taken taken;
  const uint8_t* from = packet_at(packet.slot);
  const uint32_t content = static_cast<uint32_t>(
      std::min<uint64_t>(load(head_of(from).content_bits) / 8, packet_bytes_));
  const bool open = content < TRACEWELL_PACKET_HEAD;
  out.assign(from, from + (open ? packet_bytes_ : content));
  tracewell_packet head;
  std::memcpy(&head, out.data(), sizeof head);
  std::atomic_thread_fence(std::memory_order_acquire);
  const tracewell_packet& now = head_of(from);
  if (TRACEWELL_PACKET_STATE(load(now.state)) == TRACEWELL_PACKET_DROPPED ||
      now.number != packet.number || head.number != packet.number ||
      // Its slot was begun anew between the looks at its state and at its number.
      (open && packet.state != TRACEWELL_PACKET_OPEN)) {
    taken.changed = true;
    return taken;
  }
  if (head.state != TRACEWELL_PACKET_WHOLE) {
    std::vector<uint8_t> kept = out;
    taken.unfinished = compact(kept, open, head);
    if (taken.unfinished != 0 && keep_unfinished) return taken;
    out = std::move(kept);
  }
  if (open) head.ticks_end = std::max(head.ticks_end, head.ticks_begin);
  head.lost = lost_by(head) + ring().unfinished + taken.unfinished;
  head.overwritten += being_dropped();
  head.packet_bits = head.content_bits = uint64_t{out.size()} * 8;
  head.state = TRACEWELL_PACKET_WHOLE;
  std::memcpy(out.data(), &head, sizeof head);
  return taken;
}

void RingFile::release(const Waiting& packet, const Taken& taken) {
  ring().unfinished += taken.unfinished;
  store_released(ring().taken[packet.slot], packet.number + 1);
  store_released(ring().releases, ring().releases + 1);
}

}  // namespace tracewell::hooks
