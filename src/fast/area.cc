#include "fast/area.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <type_traits>

#include "base/check.h"

namespace tracewell::fast {

namespace {

using Key = std::atomic_ref<uint64_t>;

std::span<tracewell_thread> table_of(std::span<uint8_t> memory, const AreaShape& shape) {
  return {reinterpret_cast<tracewell_thread*>(memory.data() + shape.threads_offset()),
          shape.threads};
}

bool is_free(uint64_t key) { return key == 0 || key == TRACEWELL_NOBODY; }

/// nullptr: the table is full.
tracewell_thread* claim_entry(std::span<tracewell_thread> table, uint64_t key) {
  constexpr int kTriesMax = 64;  // the program makes entries, too, and may write over all of them
  const auto mask = static_cast<uint32_t>(table.size() - 1);
  for (int tries = 0; tries < kTriesMax; ++tries) {
    tracewell_thread* free = nullptr;
    uint64_t was = 0;
    uint32_t at = tracewell_thread_at(key, mask);
    for (uint32_t looked = 0; looked <= mask; ++looked, at = (at + 1) & mask) {
      const uint64_t there = Key(table[at].key).load();
      if (there == key) return &table[at];
      if (free == nullptr && is_free(there)) {
        free = &table[at];
        was = there;
      }
      if (there == 0) break;
    }
    if (free == nullptr) return nullptr;
    if (Key(free->key).compare_exchange_strong(was, key)) return free;
  }
  return nullptr;
}

RingPlace shared_place(const AreaShape& shape, uint64_t key) {
  return {shape.rings + tracewell_ring_at(key, shape.shared_rings), true};
}

RingPlace choose_ring(std::span<uint8_t> memory, const AreaShape& shape, uint64_t key) {
  auto* const rings = reinterpret_cast<tracewell_frame_ring*>(memory.data() + shape.rings_offset());
  uint32_t at = tracewell_ring_at(key, shape.rings);
  for (uint32_t looked = 0; looked < shape.rings; ++looked, at = (at + 1) % shape.rings) {
    uint64_t nobody = 0;
    if (Key(rings[at].owner).compare_exchange_strong(nobody, key)) return {at, false};
  }
  return shared_place(shape, key);
}

uint32_t encode(const RingPlace& place) {
  return (place.ring + 1) | (place.is_shared ? TRACEWELL_SHARED : 0);
}

std::optional<RingPlace> decode(uint32_t place, const AreaShape& shape) {
  const uint32_t ring = (place & ~TRACEWELL_SHARED) - 1;
  if (ring >= shape.all_rings()) return std::nullopt;
  return RingPlace{ring, ring >= shape.rings};
}

bool is_thread(const tracewell_thread& entry, uint32_t tid, uint32_t own) {
  const uint32_t said =
      std::atomic_ref(const_cast<uint32_t&>(entry.tid)).load(std::memory_order_relaxed);
  return said == tid || said == (own | TRACEWELL_OWN_NUMBER);
}

/// An entry that has ended is as good as one that was never used where no search goes on behind it.
void shorten_searches(std::span<tracewell_thread> table, size_t from) {
  const size_t mask = table.size() - 1;
  if (Key(table[(from + 1) & mask].key).load() != 0) return;
  for (size_t left = table.size(); left > 0; --left, from = (from - 1) & mask) {
    uint64_t ended = TRACEWELL_NOBODY;
    if (!Key(table[from].key).compare_exchange_strong(ended, 0)) return;
  }
}

}  // namespace

AreaShape AreaShape::within(uint64_t bytes, uint32_t threads) {
  constexpr uint64_t kThreadsMin = 1024, kThreadsMax = 1 << 16, kRingsMax = 1 << 13;
  AreaShape out;
  out.threads = static_cast<uint32_t>(
      std::clamp<uint64_t>(std::bit_ceil(4 * uint64_t{threads}), kThreadsMin, kThreadsMax));
  // Parts begin with a page: so much of what is in front of the data may be unused.
  constexpr uint64_t kRounding = 5 * 4096;
  const uint64_t beside_rings = sizeof(tracewell_area) + out.threads * sizeof(tracewell_thread) +
                                sizeof(tracewell_ranges) + kRounding;
  bytes -= std::min(bytes, beside_rings);
  const auto cost = [](uint64_t ring_bytes) {
    return ring_bytes + ring_bytes / TRACEWELL_CELL * sizeof(uint32_t) +
           sizeof(tracewell_frame_ring) + sizeof(tracewell_vectors);
  };
  constexpr uint64_t kWantedMin = 4;
  const uint64_t wanted = std::max(threads + uint64_t{threads} / 4 + 2, kWantedMin);
  uint64_t size = kRingBytesMax;
  while (size > kRingBytesMin && wanted * cost(size) > bytes) size /= 2;
  const uint64_t all = std::clamp<uint64_t>(bytes / cost(size), 2, kRingsMax);
  // Where there is none for each thread, many share, and need more of them.
  out.shared_rings = static_cast<uint32_t>(wanted > all ? std::max<uint64_t>(all / 4, 1) : 1);
  out.rings = static_cast<uint32_t>(all - out.shared_rings);
  out.ring_bytes = static_cast<uint32_t>(size);
  return out;
}

tracewell_area& make_area(std::span<uint8_t> memory, const AreaShape& shape) {
  TW_CHECK(std::has_single_bit(shape.threads) && std::has_single_bit(shape.ring_bytes));
  TW_CHECK(shape.rings > 0 && shape.shared_rings > 0);
  TW_CHECK(shape.ring_bytes >= 4096 && memory.size() >= shape.bytes());
  auto& area = *reinterpret_cast<tracewell_area*>(memory.data());
  area.reader = 1;
  area.bytes = shape.bytes();
  area.threads = shape.threads;
  area.rings = shape.rings;
  area.shared_rings = shape.shared_rings;
  area.ring_bytes = shape.ring_bytes;
  area.threads_offset = shape.threads_offset();
  area.rings_offset = shape.rings_offset();
  area.commit_offset = shape.commit_offset();
  area.data_offset = shape.data_offset();
  area.magic = TRACEWELL_AREA_MAGIC;
  return area;
}

tracewell_geometry make_geometry(const AreaShape& shape, uint64_t address) {
  tracewell_geometry geometry{};
  const auto place = [address](auto& pointer, uint64_t offset) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(address + offset);
  };
  place(geometry.area, 0);
  place(geometry.threads, shape.threads_offset());
  place(geometry.rings, shape.rings_offset());
  place(geometry.vectors, shape.vectors_offset());
  place(geometry.ranges, shape.ranges_offset());
  place(geometry.commits, shape.commit_offset());
  place(geometry.data, shape.data_offset());
  geometry.thread_mask = shape.threads - 1;
  geometry.ring_bytes = shape.ring_bytes;
  geometry.ring_count = shape.rings;
  geometry.shared_count = shape.shared_rings;
  return geometry;
}

void set_vectors(tracewell_geometry& geometry, std::span<const tracewell_vector_part> parts,
                 uint64_t direct) {
  TW_CHECK(parts.size() <= TRACEWELL_VECTOR_PARTS);
  std::ranges::copy(parts, geometry.vector_parts);
  geometry.vector_part_count = static_cast<uint32_t>(parts.size());
  geometry.vectors_direct = direct;
  for (const tracewell_vector_part& part : parts) {
    const int number = std::countr_zero(part.component);
    if (number < int{TRACEWELL_COMPONENTS})
      geometry.component_at[number] = static_cast<uint16_t>(part.offset);
  }
}

RingPlace claim_ring(std::span<uint8_t> memory, const AreaShape& shape, uint64_t key,
                     uint32_t tid) {
  tracewell_thread* const entry = claim_entry(table_of(memory, shape), key);
  if (entry == nullptr) return shared_place(shape, key);
  const std::atomic_ref place(entry->place);
  std::atomic_ref(entry->tid).store(tid);
  if (const auto known = decode(place.load(), shape)) return *known;
  const RingPlace chosen = choose_ring(memory, shape, key);
  place.store(encode(chosen));
  return chosen;
}

std::vector<RingPlace> places_of(std::span<const uint8_t> memory, const AreaShape& shape,
                                 uint32_t tid, uint32_t own) {
  std::vector<RingPlace> out;
  const std::span all(const_cast<uint8_t*>(memory.data()), memory.size());
  for (tracewell_thread& entry : table_of(all, shape)) {
    if (!is_thread(entry, tid, own)) continue;
    if (const auto place = decode(std::atomic_ref(entry.place).load(), shape))
      out.push_back(*place);
  }
  return out;
}

void forget_threads(std::span<uint8_t> memory, const AreaShape& shape, uint32_t tid,
                    uint32_t own) {
  const std::span<tracewell_thread> table = table_of(memory, shape);
  for (size_t i = 0; i < table.size(); ++i) {
    tracewell_thread& entry = table[i];
    if (!is_thread(entry, tid, own)) continue;
    if (is_free(Key(entry.key).load())) continue;
    std::atomic_ref(entry.place).store(0);
    std::atomic_ref(entry.tid).store(0);
    Key(entry.key).store(TRACEWELL_NOBODY);
    shorten_searches(table, i);
  }
}

}  // namespace tracewell::fast
