/* base/freestanding: no libc, no allocation. C and C++.
 *
 * The memory in which a traced process leaves what its tracepoints collect, for its tracer to take
 * out: rings of records, and what finds a thread its ring. Writers are threads
 * of the process, in code of ours (inproc/collect); the reader is one process beside it
 * (fast/ring_reader.h). Both have it mapped; neither trusts the other's bytes with its life: the
 * program may write over all of it, and the reader checks what it finds. Nor does the collector: a
 * fork of the program may have it, too. Where things are both know from elsewhere.
 *
 * A thread is found in a table by its key, the base of its fs segment, where each thread has its
 * thread-local memory. (The x86-64 ABI of thread-local storage wants that base to be in the first
 * word there, and to read it takes a tenth of what RDFSBASE does.) Who is not there takes the first
 * free entry on its way from its hash on, by compare and exchange. The entry says which ring the
 * thread writes to. The first rings have one thread each. Where all of those are taken, the thread
 * writes to one of the last rings, which threads share: what is done to `head` and `lost` of such a
 * ring has a lock prefix. The reader may make entries beforehand for threads that are there, and
 * frees entries and rings of threads that have ended.
 *
 * A record is written in this order; x86-64 keeps stores in order, and a signal handler's records
 * nest anywhere in between:
 *   1. `head` moves past it, by an instruction that no signal splits   it is reserved
 *   2. its commit word = cells | OPEN                                  its size is known
 *   3. timestamp, then its bytes
 *   4. `head` moves back to its real end, if it is still the last
 *   5. its commit word = cells                                         it is there
 * So of a process that was killed at any instant all records are read that got to 5. Between 1 and
 * 2 a commit word is 0; commit words that do not begin a record are 0, too, so what follows such a
 * gap is found. The reader zeroes the commit word, and then moves `tail`.
 *
 * A thread that finds a ring of its own empty, and has come some way, begins anew at the first
 * byte: what was written to lately is still in its cache. It says so by `origin`, a multiple of the
 * ring's size, before `head` gets past that; an `origin` that `head` has not got to counts for
 * nothing.
 *
 * A record is contiguous. Where it would run past the end of the ring, one that says nothing
 * (TRACEWELL_NO_PLAN) takes the cells up to there. A record has at most half of a ring. */
#ifndef TRACEWELL_RING_FRAME_RING_H
#define TRACEWELL_RING_FRAME_RING_H

#include <stddef.h>
#include <stdint.h>

#include "ring/frame_record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRACEWELL_AREA_MAGIC 0x3230616572615754u /* "TWarea02" */
#define TRACEWELL_RECORD_OPEN 0x80000000u
#define TRACEWELL_REWIND_MIN 0x10000u            /* bytes; a quarter of a smaller ring */
#define TRACEWELL_COMPONENTS 16u                 /* of processors, the first ones */
#define TRACEWELL_VECTOR_BYTES 4096u             /* of XSAVEC; a larger area is told as a whole */
#define TRACEWELL_VECTOR_PARTS 12u

/* What tells threads apart. Where there is no fs base, it is THREAD_ID. */
#define TRACEWELL_KEYS_SELF 0u      /* the word at the base of fs, which is that base itself */
#define TRACEWELL_KEYS_FS_BASE 1u   /* the base of fs */
#define TRACEWELL_KEYS_THREAD_ID 2u /* 2 * thread id + 1 */

/* How hits read the program's memory. */
#define TRACEWELL_READS_LOAD 0u  /* by loads, whose faults a tracer mends */
#define TRACEWELL_READS_CALL 1u  /* by system calls, since a fault would do harm */
#define TRACEWELL_READS_KNOWN 2u /* by loads in ranges that the tracer knows, else by calls */

/* A key, and a ring's owner, of a thread that has ended: no thread has such a key. */
#define TRACEWELL_NOBODY 0xfffffffffffffffeu
/* In a thread's number: it is what the thread knows itself by (gettid), which its tracer may know
 * by another one (pid_namespaces(7)). */
#define TRACEWELL_OWN_NUMBER 0x80000000u
/* In tracewell_thread.place. */
#define TRACEWELL_SHARED 0x80000000u

/* An entry of the table of threads. */
struct tracewell_thread {
  uint64_t key;   /* 0: free, and so were all entries that a search would come to behind this */
  uint32_t place; /* the number of its ring, plus 1, and TRACEWELL_SHARED; 0 = none yet */
  uint32_t tid;   /* 0 = not known yet */
};

/* One for each ring; two lines of cache, the first one its threads', the other one the reader's. */
struct tracewell_frame_ring {
  uint64_t head;   /* bytes ever reserved, less what was given back */
  uint64_t lost;   /* hits that found no room */
  uint64_t owner;  /* the key of the thread that has it alone; 0 = it is free */
  uint64_t origin; /* where the thread has begun anew at the first byte; less than tail: read */
  uint32_t impatient; /* 1: nobody has taken anything for long: hits wait no more for room */
  uint32_t pad;
  uint64_t unused[3];
  uint64_t tail; /* bytes ever taken out */
  uint64_t unused_too[7];
};

/* One for each ring that is not shared: the vector state of its last record that told of any, and
 * room for the next. Mostly nothing has changed in the larger part of it, and to write it down
 * again would take longer than all else of a hit. */
struct tracewell_vectors {
  uint64_t present;    /* components in use in states[which] */
  uint32_t generation; /* of that; 0: nothing was told yet */
  uint32_t serial;     /* of the newest generation that there was */
  uint32_t which;
  uint32_t busy; /* 1: a hit has come so far; one of a signal's handler leaves all this alone */
  uint32_t steady; /* 1: it was the same at the last two hits, and may well be again */
  uint32_t pad;
  uint64_t unused[4];
  uint8_t states[2][TRACEWELL_VECTOR_BYTES];
};

/* A piece of such a state. */
struct tracewell_vector_part {
  uint32_t offset, bytes; /* multiples of 8 */
  uint64_t component;     /* as a bit; it has been stored if that is in use */
};

/* At the beginning of the memory. */
struct tracewell_area {
  uint64_t magic;
  /* The thread that takes records out, by its number. Where the bits of TRACEWELL_READER (ax/hit.h)
   * are 0 there is none, and hits are neither recorded nor counted. The kernel makes them 0 when
   * that thread dies, for it is a robust futex. */
  uint32_t reader;
  uint32_t ticks_denied; /* 1: a thread may not read the time stamp counter: it has clock_ticks */
  /* How it was made, for who looks at it; neither side goes by that. Offsets are from here. */
  uint64_t bytes;          /* of all of it */
  uint32_t threads;        /* in the table; a power of two */
  uint32_t ring_bytes;     /* of data in each, a power of two */
  uint32_t rings;          /* of one thread each */
  uint32_t shared_rings;   /* behind those */
  uint64_t threads_offset; /* struct tracewell_thread[threads] */
  uint64_t rings_offset;   /* struct tracewell_frame_ring[] */
  uint64_t commit_offset;  /* uint32_t[][ring_bytes / TRACEWELL_CELL] */
  uint64_t data_offset;    /* [][ring_bytes] */
  uint64_t unused_too;
  /* The tracer's clock, for who reads the time: Unix microseconds at `clock_ticks` of the time
   * stamp counter, and how many, times 2^32, each tick is. Odd sequence: it is being set. */
  uint64_t clock_sequence, clock_ticks, clock_us, clock_rate;
  /* The numbers of trace_timestamp, trace_thread and trace_cpu. */
  uint32_t timestamp_number, thread_number, processor_number;
  uint32_t unused;
  uint64_t variables[512]; /* cells of trace state variables */
};

/* What hits go by: where the area is, and all that decides an address, a size, or whose memory is
 * read. It stands behind the collector's code, in memory of the process that no fork of it shares:
 * a fork may have fewer rights, and have the area. Hits look at the first line of cache alone. */
struct tracewell_geometry {
  struct tracewell_area* area;
  struct tracewell_thread* threads;
  struct tracewell_frame_ring* rings;
  uint32_t* commits;
  uint8_t* data;
  uint32_t thread_mask; /* the number of entries in the table, less 1 */
  uint32_t ring_bytes;
  uint32_t ring_count, shared_count; /* of one thread each; behind those, at least 1 */
  /* The tracer changes the lowest byte of these two while threads run. */
  uint32_t keys;          /* TRACEWELL_KEYS_… */
  uint32_t reads;         /* TRACEWELL_READS_… */
  struct tracewell_vectors* vectors;
  struct tracewell_ranges* ranges; /* ring/readable_ranges.h, as the next */
  struct tracewell_fault_actions* fault_actions; /* set before READS_KNOWN is */
  /* Components whose registers a hit may compare by itself, without XSAVEC. */
  uint64_t vectors_direct;
  /* Where in a state components begin, by number; those that come behind the legacy part. */
  uint16_t component_at[TRACEWELL_COMPONENTS];
  uint32_t vector_part_count; /* 0: vector state is told as a whole each time */
  uint32_t yields;            /* 1: who waits for room may call sched_yield. Changes as `keys` */
  struct tracewell_vector_part vector_parts[TRACEWELL_VECTOR_PARTS];
};

/* Where the search for a key's entry begins, and where that for a ring, of so many. */
static inline uint64_t tracewell_spread(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }
static inline uint32_t tracewell_thread_at(uint64_t key, uint32_t mask) {
  return (uint32_t)(tracewell_spread(key) >> 40) & mask;
}
static inline uint32_t tracewell_ring_at(uint64_t key, uint32_t rings) {
  return (uint32_t)((tracewell_spread(key) >> 32) * rings >> 32);
}

#ifdef __cplusplus
}
static_assert(sizeof(tracewell_frame_ring) == 128 && sizeof(tracewell_thread) == 16);
static_assert(sizeof(tracewell_area) == 128 + 512 * 8);
static_assert(sizeof(tracewell_geometry) == 328 && offsetof(tracewell_geometry, vectors) == 64);
static_assert(sizeof(tracewell_vectors) % 64 == 0);
#endif
#endif
