/* From one packet of a ring to the next. */
#include <string.h>

#include "inproc/runtime.h"

#define POSITION_PACKET_SHIFT 44

int slot_is_whole(const struct place* place, uint32_t slot) {
  return place->numbers[slot] == 0 || place->committed[slot] == place->filled[slot];
}

uint32_t offset_now(const struct place* place) {
  return (uint32_t)place->thread.position & TRACEWELL_OFFSET_MASK;
}

static struct tracewell_packet* packet_at(const struct place* place, uint32_t slot) {
  void* const at = place->packets + (size_t)slot * place->shape.packet_bytes;
  return at;
}

/* A packet whose records are not all committed keeps its slot: whoever was interrupted while it
 * wrote one of them will go on with it. */
static int slot_is_free(const struct place* place, uint32_t slot) {
  if (place->numbers[slot] == 0) return 1;
  if (!slot_is_whole(place, slot)) return 0;
  return place->shape.mode == TRACEWELL_RING_CIRCULAR ||
         __atomic_load_n(&place->ring->taken[slot], __ATOMIC_ACQUIRE) == place->numbers[slot];
}

void close_packet(struct place* place, uint64_t now) {
  struct tracewell_packet* packet = packet_at(place, place->slot);
  const uint32_t end = offset_now(place);
  place->filled[place->slot] = end - TRACEWELL_PACKET_HEAD;
  place->records[place->slot] = (uint32_t)(place->thread.position >> 24) & 0xfffffu;
  packet->ticks_end = now;
  packet->lost = place->ring->lost;
  packet->records = place->records[place->slot];
  packet->content_bits = (uint64_t)end * 8;
  __atomic_store_n(&packet->state,
                   slot_is_whole(place, place->slot) ? TRACEWELL_PACKET_WHOLE
                                                     : TRACEWELL_PACKET_CLOSED,
                   __ATOMIC_RELEASE);
}

static void open_packet(struct place* place, uint32_t slot, uint64_t now) {
  struct tracewell_packet* packet = packet_at(place, slot);
  const uint64_t number = place->next++;
  uint32_t dropped = 0;
  if (place->numbers[slot] != 0 && place->shape.mode == TRACEWELL_RING_CIRCULAR)
    dropped = place->records[slot];
  place->overwritten += dropped;
  /* Whoever looks now, or after we were killed here, finds one store that drops the old packet, and
   * one that makes the new one. */
  __atomic_store_n(&packet->state, TRACEWELL_PACKET_DROPPED | dropped << 8, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memset(packet, 0, offsetof(struct tracewell_packet, state));
  memset(packet->identity, 0,
         place->shape.packet_bytes - offsetof(struct tracewell_packet, identity));
  packet->magic = TRACEWELL_PACKET_MAGIC;
  memcpy(packet->uuid, place->uuid, sizeof packet->uuid);
  packet->stream_id = TRACEWELL_PACKET_STREAM;
  packet->stream = place->shape.identity[1] + place->shape.number;
  packet->packet_bits = (uint64_t)place->shape.packet_bytes * 8;
  packet->ticks_begin = now;
  packet->number = number;
  packet->overwritten = place->overwritten;
  packet->pid = place->shape.pid;
  packet->tid = place->owner;
  packet->identity[0] = place->shape.identity[0];
  packet->identity[1] = place->shape.identity[1];
  packet->start = place->shape.start;
  packet->ring = place->shape.number;
  packet->record_bytes_max = TRACEWELL_RECORD_BYTES_MAX;
  __atomic_store_n(&packet->state, TRACEWELL_PACKET_OPEN, __ATOMIC_RELEASE);
  place->numbers[slot] = number + 1;
  place->filled[slot] = 0;
  place->committed[slot] = 0;
  place->slot = slot;
  place->thread.packet = (uint8_t*)packet;
  place->thread.committed = &place->committed[slot];
  place->thread.ticks = now;
  place->thread.position = place->turns++ << POSITION_PACKET_SHIFT | TRACEWELL_PACKET_HEAD;
}

/* A collector looks now and then by itself; that is too late for a ring that fills fast. */
static void wake_collector(const struct place* place) {
  const struct tracewell_channel* channel;
  if (place->shape.mode != TRACEWELL_RING_ALTERNATE || place->channel >= TRACEWELL_HOOK_CHANNELS)
    return;
  if ((place->next - place->ring->releases) * 2 < place->shape.slots) return;
  channel = channel_at(place->channel);
  /* It looks once more after it has said that it sleeps. */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&channel->collector, __ATOMIC_RELAXED) != 0)
    wake_sleepers(&channel->collector);
}

int next_packet(struct place* place) {
  const uint64_t releases = __atomic_load_n(&place->ring->releases, __ATOMIC_ACQUIRE);
  const uint32_t slots = place->shape.slots;
  /* The oldest goes from a circular ring. Elsewhere the first that is free: where packets are taken
   * as fast as they come, these few stay in the caches, however large the ring is. */
  const uint32_t first = place->shape.mode == TRACEWELL_RING_CIRCULAR ? place->slot + 1 : 0;
  uint64_t now;
  uint32_t i;
  for (i = 0; i < slots; ++i) {
    const uint32_t slot = (first + i) % slots;
    if (place->thread.packet && slot == place->slot) continue;
    if (!slot_is_free(place, slot)) continue;
    now = tracewell_ticks();
    if (place->thread.packet) close_packet(place, now);
    open_packet(place, slot, now);
    place->full_at = 0;
    wake_collector(place);
    return 1;
  }
  place->full_at = releases + 1;
  wake_collector(place);
  return 0;
}

/* One instruction: a handler may count one in between. */
static void count_lost(struct tracewell_ring* ring) {
#ifdef __x86_64__
  __asm__ __volatile__("incq %0" : "+m"(ring->lost)::"memory");
#else
  __atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
#endif
}

/* Where there is no ring, none counts. The next hook looks for one again if it is time; a thread
 * that is one too many has no place to put it. */
static int lose(struct place* place, struct tracewell_ring* ring) {
  if (ring) {
    count_lost(ring);
    return 0;
  }
  count_failure(place->channel, place->thread.state >> TRACEWELL_STATE_SESSION_SHIFT);
  if (place->owner != 0 && tracewell_ticks() >= place->retry_at) place->thread.state = 0;
  return 0;
}

/* A handler may change `place->ring` as long as signals are not held back. */
static int turn(struct place* place, struct tracewell_thread* thread, uint32_t bytes) {
  struct tracewell_ring* ring = __atomic_load_n(&place->ring, __ATOMIC_RELAXED);
  SignalMask mask;
  int turned = 1;
  if (!ring || place->full_at == __atomic_load_n(&ring->releases, __ATOMIC_RELAXED) + 1 ||
      TRACEWELL_PACKET_HEAD + bytes > thread->room)
    return lose(place, ring);
  mask = hold_signals();
  /* A handler may have turned to the next packet already, or found that tracing began anew. */
  ring = __atomic_load_n(&place->ring, __ATOMIC_RELAXED);
  if (!ring)
    turned = 0;
  else if (offset_now(place) + bytes > thread->room ||
           (tracewell_ticks() - thread->ticks) >> 47 != 0)
    turned = next_packet(place) || next_ring(place, 1);
  if (!turned) lose(place, ring);
  release_signals(mask);
  return turned;
}

int tracewell_hooks_turn(struct tracewell_thread* thread, uint32_t bytes) {
  struct place* place = (struct place*)(void*)thread;
  int turned;
  if (place->unwanted) return 0;
  /* Until we are done nobody above us on the stack takes the ring away. */
  ++place->turning;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  turned = turn(place, thread, bytes);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  --place->turning;
  return turned;
}
