/* What trace hooks leave in shared files: the control file of a user, a ring of packets for each
 * thread, and the records in a packet. A packet is one of a CTF 1.8 data stream, so a log holds
 * packets as their threads wrote them. docs/formats/hooklog.md, docs/decisions/0008
 *
 * Numbers are little endian. Structures are alike for 32- and 64-bit programs: each number is
 * aligned to its size by its place. C89 with fixed-width numbers; no functions. */
#ifndef TRACEWELL_HOOK_LAYOUT_H
#define TRACEWELL_HOOK_LAYOUT_H

#include <stdint.h>

#define TRACEWELL_HOOK_CHANNELS 8
#define TRACEWELL_HOOK_PAGE 4096u
#define TRACEWELL_HOOK_WORDS_MAX 5
#define TRACEWELL_HOOK_DATA_MAX 4096u /* bytes of one generic record */

/* ---- A record: bytes from its start; a multiple of 4 of them, at a multiple of 4.
 *  0  id      one byte, TRACEWELL_RECORD_*; 0 while it is not committed
 *  1  flags   one byte, TRACEWELL_RECORD_TIMED, TRACEWELL_RECORD_CPU
 *  2  ticks   six bytes: the low 48 bits of the time stamp counter
 *  8  hook    four bytes: subhook, hook id
 * 12  the words, 8 or 4 bytes each; in a generic record one word, a 16-bit length, the bytes.
 * A mark has no hook: a 16-bit length at 8, then text.
 * With TRACEWELL_RECORD_CPU, four bytes at the end of a hook: the processor.
 *
 * The first four bytes are stored twice: `bytes << 8` once the space is reserved, and their final
 * value when all the rest is there. Space that is all zeros was reserved, and nothing else. */
#define TRACEWELL_RECORD_WORDS_64 1  /* + number of words */
#define TRACEWELL_RECORD_WORDS_32 7  /* + number of words */
#define TRACEWELL_RECORD_GENERIC_64 13
#define TRACEWELL_RECORD_GENERIC_32 14
#define TRACEWELL_RECORD_MARK 15     /* what an operator did */
#define TRACEWELL_RECORD_PROGRAM 16  /* the program that the ring is of; a mark, too */
#define TRACEWELL_RECORD_THREAD 17   /* as a mark, of four bytes: the thread of what follows */
#define TRACEWELL_RECORD_LAST 17
#define TRACEWELL_RECORD_TIMED 1u    /* the macro's name ended in T */
#define TRACEWELL_RECORD_CPU 2u      /* it says on which processor; all ones = nobody knew */
#define TRACEWELL_RECORD_HEAD 12u
/* A generic record of 64-bit words, with a processor: there are none longer. */
#define TRACEWELL_RECORD_BYTES_MAX \
  (((TRACEWELL_RECORD_HEAD + 8u + 2u + TRACEWELL_HOOK_DATA_MAX + 3u) & ~3u) + 4u)
#define TRACEWELL_RECORD_TICK_BITS 48

/* ---- A packet: this, then records. It is CTF's packet.header and packet.context.
 *
 * Releases before had the head up to `state`, stream_id 0, and process id << 32 | ring as `stream`.
 * They are read. */
#define TRACEWELL_PACKET_MAGIC 0xC1FC1FC1u
#define TRACEWELL_PACKET_OPEN 1u
#define TRACEWELL_PACKET_CLOSED 2u
#define TRACEWELL_PACKET_WHOLE 3u /* closed, and each record in it was committed by then */
/* + 256 * records: it goes to make room, and nothing but this is left of it. The next state is
 * open, and that packet counts these records as overwritten. */
#define TRACEWELL_PACKET_DROPPED 4u
#define TRACEWELL_PACKET_STATE(state) ((state) & 0xffu)
#define TRACEWELL_PACKET_BYTES_MIN 8192u
#define TRACEWELL_PACKET_BYTES_MAX (4u << 20)

struct tracewell_packet {
  uint32_t magic;
  uint8_t uuid[16];      /* of the log */
  uint32_t stream_id;    /* TRACEWELL_PACKET_STREAM */
  uint64_t stream;       /* identity[1] + ring: no other ring has it */
  uint64_t packet_bits;  /* this and all records, and what is unused behind them */
  uint64_t content_bits; /* 0 until it is closed */
  uint64_t ticks_begin;  /* not later than the first record */
  uint64_t ticks_end;    /* not before the last; 0 until it is closed */
  uint64_t lost;         /* records of this ring that found no room, up to the packet's end */
  uint64_t number;       /* of the packet in its ring, from 0 */
  uint64_t overwritten;  /* records that a circular ring had dropped when the packet was begun */
  uint32_t pid;
  uint32_t tid;
  uint32_t records;      /* hooks for which space was taken in it; set when it is closed */
  uint32_t state;        /* TRACEWELL_PACKET_*; stored last */
  uint64_t identity[2];  /* of the process: half of the boot id, and random bits */
  uint64_t start;        /* of the process, as /proc/PID/stat has it; 0 = not known */
  uint32_t ring;         /* number of the ring in its process */
  uint32_t checksum;     /* 0 = there is none; no other is defined yet */
  uint32_t record_bytes_max; /* no record of this writer's is longer */
  uint32_t reserved[3];  /* 0 */
};
#define TRACEWELL_PACKET_STREAM 1u
#define TRACEWELL_PACKET_HEAD 152u
#define TRACEWELL_PACKET_HEAD_2 104u

/* ---- A ring: a file of one page with this at its start, then `slots` packets. */
#define TRACEWELL_RING_MAGIC 0x676e697268577754ull /* "TwWhring" */
#define TRACEWELL_RING_VERSION 3u
#define TRACEWELL_RING_VERSION_OLD 2u /* its packets have the old head; ends before `identity` */
#define TRACEWELL_RING_SLOTS_MAX 64u
#define TRACEWELL_RING_ALTERNATE 0u /* a collector takes packets away, and then they are reused */
#define TRACEWELL_RING_CIRCULAR 1u  /* the oldest packet goes when room is needed */
#define TRACEWELL_RING_SINGLE 2u    /* what finds no room is lost */

/* A number that several look at. 32-bit x86 aligns it to 4 bytes by itself, and compilers then call
 * a library for what is to happen at once. */
typedef uint64_t tracewell_shared __attribute__((aligned(8)));

struct tracewell_ring {
  tracewell_shared magic; /* stored last */
  uint32_t version;
  uint32_t packet_bytes;
  uint32_t slots;
  uint32_t mode;
  uint32_t pid;
  uint32_t number;  /* of the ring in its process */
  uint32_t session; /* of the channel */
  uint32_t channel;
  tracewell_shared lost;     /* records that found no room */
  tracewell_shared unfinished; /* by the collector: records that it found reserved and left out */
  tracewell_shared releases; /* by the collector: packets that it has taken */
  /* By the collector: 1 + number of the packet that it took from this slot last. */
  tracewell_shared taken[TRACEWELL_RING_SLOTS_MAX];
  tracewell_shared ticks; /* from here on as the channel has them, to make a log of a ring alone */
  int64_t time_ns;
  int64_t monotonic_ns;
  tracewell_shared hertz;
  uint8_t uuid[16];
  tracewell_shared identity[2]; /* of the process, as its packets have it */
  tracewell_shared start;
  uint32_t record_bytes_max;
  uint32_t reserved;
};

/* ---- The control file: what all of a user's programs look at. Zeros are a valid one.
 * page 0: struct tracewell_control; pages 1 to 8: a struct tracewell_channel each; then for each
 * channel a bit for each of 65536 hook ids, least significant first; then struct
 * tracewell_failures. */
#define TRACEWELL_CONTROL_NAME "hooks-2"
#define TRACEWELL_STATE_ON 1u
#define TRACEWELL_STATE_FILTERED 2u /* only hooks whose bit is set, on processors that are chosen */
#define TRACEWELL_STATE_CPU 4u      /* records say on which processor */
#define TRACEWELL_STATE_SESSION_SHIFT 8
#define TRACEWELL_SESSION_MASK 0xffffffu

struct tracewell_control {
  uint32_t state[TRACEWELL_HOOK_CHANNELS]; /* session << 8 | TRACEWELL_STATE_*; hooks look here */
};

#define TRACEWELL_CHOSEN_MAX 64
#define TRACEWELL_CPUS_MAX 4096 /* that can be chosen */
#define TRACEWELL_PROPAGATE_PROCESSES 1u /* those whose parent, or its parent, … is named, too */
#define TRACEWELL_PROPAGATE_THREADS 2u   /* all threads of a process of which one is named */

struct tracewell_channel {
  uint32_t session; /* counts up, 1 to 2^24-1; what stands here is of this one */
  uint32_t mode;    /* TRACEWELL_RING_* */
  uint32_t packet_bytes;
  uint32_t slots;
  uint8_t uuid[16];
  uint32_t active;    /* from trace to trcstop */
  uint32_t collector; /* its own: 1 = it sleeps; who fills half of a ring wakes it, by a futex */
  uint32_t stopping;  /* 1: the collector is to take what is left, and to end; 2: only to end */
  uint32_t stop_when_full; /* 1: rather than to drop what is oldest in the log; 2: it is full */
  uint64_t ticks;     /* when the session began: the counter, and the clocks then */
  int64_t time_ns;    /* Unix epoch */
  int64_t monotonic_ns;
  uint64_t log_bytes; /* what the log may grow to; 0 = any size */
  uint64_t hertz;     /* of the counter, as well as it was known then */
  char log[2048];     /* absolute path of the log; rings are in its folder .rings */
  /* Who is recorded: those named here, or, where there is none, everybody. */
  uint32_t processes; /* how many are named */
  uint32_t threads;
  uint32_t propagation; /* TRACEWELL_PROPAGATE_* */
  uint32_t cpus;        /* on how many processors; 0 = on all */
  uint32_t process[TRACEWELL_CHOSEN_MAX];
  uint32_t thread[TRACEWELL_CHOSEN_MAX];
  uint8_t cpu[TRACEWELL_CPUS_MAX / 8]; /* a bit for each, least significant first */
};
/* Bytes of a log's metadata: its UUID, as text, is in them. Programs look whose log it is. */
#define TRACEWELL_LOG_UUID_WITHIN 2048
#define TRACEWELL_WHY_BYTES 448
struct tracewell_failures {
  tracewell_shared lost[TRACEWELL_HOOK_CHANNELS]; /* by threads that could not make a ring */
  /* By the collector of each channel: 1 = it was at work; and why it ended, where it could tell. */
  uint32_t collected[TRACEWELL_HOOK_CHANNELS];
  char why[TRACEWELL_HOOK_CHANNELS][TRACEWELL_WHY_BYTES]; /* text; empty = it did not */
};

#define TRACEWELL_FILTER_BYTES 8192u
#define TRACEWELL_CONTROL_CHANNELS TRACEWELL_HOOK_PAGE
#define TRACEWELL_CONTROL_FILTERS (9u * TRACEWELL_HOOK_PAGE)
#define TRACEWELL_CONTROL_FAILURES \
  (TRACEWELL_CONTROL_FILTERS + TRACEWELL_HOOK_CHANNELS * TRACEWELL_FILTER_BYTES)
#define TRACEWELL_CONTROL_BYTES (TRACEWELL_CONTROL_FAILURES + TRACEWELL_HOOK_PAGE)

#ifdef __cplusplus
#define TRACEWELL_SIZE_IS(type, size) static_assert(sizeof(struct type) == (size), "layout")
#else
#define TRACEWELL_SIZE_IS(type, size) _Static_assert(sizeof(struct type) == (size), "layout")
#endif
TRACEWELL_SIZE_IS(tracewell_packet, TRACEWELL_PACKET_HEAD);
TRACEWELL_SIZE_IS(tracewell_failures, (12 + TRACEWELL_WHY_BYTES) * TRACEWELL_HOOK_CHANNELS);
TRACEWELL_SIZE_IS(tracewell_ring, 144 + 8 * TRACEWELL_RING_SLOTS_MAX);
TRACEWELL_SIZE_IS(tracewell_channel,
                  104 + 2048 + 8 * TRACEWELL_CHOSEN_MAX + TRACEWELL_CPUS_MAX / 8);

#include "hook_components.h"
#include "hook_losses.h"
#endif
