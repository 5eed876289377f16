/* What the files of the hook runtime share. */
#pragma once

#include <tracewell/hooks.h>
#include "inproc/system.h"

#define THREADS_MAX 4096
#define CHANNELS_ALL (TRACEWELL_HOOK_CHANNELS + TRACEWELL_COMPONENTS_MAX)
#define TRACEWELL_OFFSET_MASK 0xffffffu

/* What a ring was made with. Its file is mapped in every process that was forked since, also in one
 * that has fewer rights by now and writes to it: so what says where and how much to write, and what
 * is said of the process, is never read from there. */
struct shape {
  uint32_t packet_bytes;
  uint32_t slots;
  uint32_t mode;   /* TRACEWELL_RING_* */
  uint32_t number; /* of the ring in its process */
  uint64_t identity[2];
  uint64_t start;
  uint64_t inode;  /* of its file */
  uint32_t pid;
};

/* A thread's ring, and what only its own thread knows of it. All of these live in one mapping that
 * the kernel wipes in a forked child, where `owner` and `thread.state` are 0 then. What each hook
 * looks at is in one line of the cache. */
struct __attribute__((aligned(64))) place {
  struct tracewell_thread thread; /* the part that hooks.h sees; first */
  uint32_t owner;                 /* thread id; 0 = free */
  uint32_t slot;                  /* of the packet that is being filled */
  uint32_t session;
  uint32_t channel;
  uint32_t adopted;               /* others had the ring before; cleared with one of its own */
  uint32_t turning;               /* calls that look for room in the ring, one above the other */
  uint32_t unwanted;              /* its thread was not chosen; no ring, and nothing is counted */
  struct tracewell_ring* ring;    /* NULL = there could be none */
  uint8_t* packets;
  struct shape shape;             /* of the ring */
  uint64_t next;                  /* number of the next packet */
  uint64_t turns;                 /* packets, of earlier rings too: no two positions are alike */
  uint64_t overwritten;           /* records */
  uint64_t full_at;               /* 1 + the ring's releases when no packet was free; 0 = one was */
  uint64_t retry_at;              /* where there is no ring: looks for one again, in ticks */
  uint64_t pause;                 /* before that, in ticks; 0 = there was a ring */
  uint8_t uuid[16];
  uint64_t numbers[TRACEWELL_RING_SLOTS_MAX];   /* 1 + number of the packet in the slot; 0 = none */
  uint32_t filled[TRACEWELL_RING_SLOTS_MAX];    /* bytes of records, once it is closed */
  uint32_t records[TRACEWELL_RING_SLOTS_MAX];   /* once it is closed */
  uint32_t committed[TRACEWELL_RING_SLOTS_MAX]; /* bytes of records */
};

/* Which process it is. Process ids are used again within minutes; no other process, of any boot of
 * any machine, has this. */
struct identity {
  uint64_t boot;      /* the first half of the boot id; 0 = not known */
  uint64_t start;     /* of the process, in clock ticks since the boot; 0 = not known */
  uint32_t random[2]; /* 0 = not drawn yet */
};
/* Fills it in, unless that was done. Threads may do so together. */
HIDDEN void find_identity(struct identity* one);
/* Where all copies of this library in the process find it; wiped in a forked child. NULL: there was
 * no memory for it, or no time yet. */
HIDDEN extern struct identity* tracewell_shared_identity;

/* Calls `work` with `data` on a stack that is large enough for anything here, where the program's
 * may have no room. Signals are held back. 0: there is no memory for one, and nothing was done. */
HIDDEN int on_own_stack(void (*work)(void*), void* data);

/* All but page 0 of the control file; zeros when there is none. */
HIDDEN const uint8_t* control_pages(void);
/* Is it still the user whose control file was found, and nobody else for the moment? */
HIDDEN int is_user_of_control(void);
/* Around what opens a file that is mapped to be written to: meanwhile the process is not forked, or
 * it would have the descriptor there. 0: it is being forked for long, and nothing was begun. */
HIDDEN int begin_opening(void);
HIDDEN int begin_opening_at_last(void); /* for what is tried once: for seconds */
HIDDEN void end_opening(void);
/* A child of vfork has its parent's, and may be the first that has a hook there. */
HIDDEN uint32_t process_of_memory(void);

/* Where failures are counted: the control file, its folder by name, and the page of failures. */
HIDDEN void find_failures(const char* folder, int control, struct tracewell_failures* page);
/* Of a hook of that session. */
HIDDEN void count_failure(unsigned channel, uint32_t session);
/* A component that begins has lost nothing. */
HIDDEN void forget_failures_of(unsigned slot);
/* A page of failures of this process's own, where it has rights that it may give up: made once, and
 * tried once in a session. All zeros at first, and in a forked child. */
struct own_losses {
  uint64_t tried; /* in this session */
  struct tracewell_losses* page;
};
/* NULL: there is no memory for it. */
HIDDEN struct own_losses* own_losses(void);
/* Signals are held back. */
HIDDEN void have_losses(struct own_losses* own, uint32_t session);
/* The same when the program is loaded, or has a component: it may give up its rights before its
 * first hook. */
HIDDEN void begin_losses(uint32_t session);
#define SESSION_OF_COMPONENTS (TRACEWELL_SESSION_MASK + 1) /* no channel's */
/* Writes the digits; returns where they end. */
HIDDEN char* put_decimal(char* at, uint32_t number);
/* Folders are held by descriptors (O_PATH), which the caller closes. Something that is negative: it
 * could not be held; SOMEBODY_ELSES: what is there, or leads there, is another user's than this one
 * and root. */
#define SOMEBODY_ELSES (-0x10000)
/* What the absolute path leads to; links of this user and of root are followed. The path, in a
 * buffer of `size` bytes, is used up, and so is what links make of it. */
HIDDEN int hold_folder(char* path, size_t size);
/* The same where nobody but this user and root decides what is found on the way, be it that nothing
 * is there; SOMEBODY_ELSES otherwise, whatever is found. */
HIDDEN int hold_kept_folder(char* path, size_t size);
/* This user's folder of that name in it, which is no link; and the same, made if it is missing. */
HIDDEN int hold_inside(int folder, const char* name);
HIDDEN int make_inside(int folder, const char* name);
struct stat;
/* 0: it cannot be looked at. */
HIDDEN int look_at(int fd, struct stat* about);
/* Is it this user's? Nobody's is a number that stands for several users of the machine. */
HIDDEN int is_own_user(uid_t owner);
/* A program that acts as another user for a while would leave that user what it maps. */
HIDDEN int is_one_user(void);
/* Is it root's or this user's? */
HIDDEN int is_trusted(uid_t owner);

/* The control file's folder, held, where programs and commands meet; its name, in `path`. */
HIDDEN int hold_meeting_place(char* path, size_t size);
/* The same where it is in /tmp; its name there, in `name`. */
HIDDEN int hold_in_tmp(char* name, size_t size);
/* The absolute path's file, opened to be read: a regular one of this user or root, which links of
 * these lead to. A path that is not absolute begins in the working folder. */
HIDDEN int open_trusted(char* path, size_t size);
/* The same where nobody but this user, root and groups decides what is found on the way. */
HIDDEN int open_kept(char* path, size_t size);

/* One that was registered: in memory that commands write to, and perhaps others. What stands there
 * is data. */
HIDDEN struct tracewell_component* component_at(unsigned slot);
HIDDEN uint32_t component_state(unsigned slot);
/* What its buffers are described by. */
HIDDEN void copy_component_channel(unsigned slot, struct tracewell_channel* channel);
/* What a session is described by. */
HIDDEN const struct tracewell_channel* channel_at(unsigned number);
/* The file that says which components the process has; its name begins with `process`, and it is in
 * `folder`, that of components. It is mapped between begin_opening() and end_opening(). NULL: it
 * could not be made, or is not there. */
HIDDEN struct tracewell_registered* make_registered(int folder, const char* process,
                                                    uint64_t start);
HIDDEN struct tracewell_registered* map_registered(int folder, const char* process);
HIDDEN void unmap_registered(struct tracewell_registered* all);
HIDDEN void remove_registered(int folder, const char* process);
/* Before its block says that it is there; after that and in between, its state is set. */
HIDDEN void begin_registration(struct tracewell_registered* all, unsigned slot,
                               const struct tracewell_component* block);
HIDDEN void set_registration(struct tracewell_registered* all, unsigned slot, uint32_t state);
/* What holds for components that come; `folder` is theirs. */
HIDDEN void obey_rules(struct tracewell_component* block, int folder);
/* Is this thread one of those that the session is about? */
HIDDEN int thread_is_chosen(const struct tracewell_channel* channel, uint32_t self);

/* Signals are held back. */
HIDDEN void close_packet(struct place* place, uint64_t now);
/* Closes the current packet, if there is one, and begins the next one. Signals are held
 * back. 0: no slot is free. */
HIDDEN int next_packet(struct place* place);
/* A single buffer's first events are kept, and that is meant for each thread: one that took over a
 * ring, and finds it full, gets one of its own. Signals are held back. `ours`: 1 where it is called
 * out of one of those that are counted in `turning`. 0: it did not. */
HIDDEN int next_ring(struct place* place, uint32_t ours);
/* Bytes of the current packet that are in use, with its head. */
HIDDEN uint32_t offset_now(const struct place* place);
/* Has each record that was reserved in the slot been committed? */
HIDDEN int slot_is_whole(const struct place* place, uint32_t slot);
