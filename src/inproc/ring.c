/* A thread's first hook of a session: a ring for it. */
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define PLACES_BYTES (sizeof(struct place) * THREADS_MAX)
#define NAMES_TRIED 100000u
#define RETRY_TICKS_MIN (1u << 21) /* about a millisecond */
#define RETRY_TICKS_MAX (1u << 31) /* about a second */
#define IDENTITY_AT 2048u /* in the page behind the places */
#define PATH_BYTES 2200 /* of a log's, with what links add to it */
#define NAME_BYTES 24   /* two numbers */
#define UUID_TEXT 36
_Static_assert(TRACEWELL_LOG_UUID_WITHIN <= PATH_BYTES, "the buffer of the path takes it");
#define PROGRAM_PATH_MAX 1024

/* Before a thread's first hook. */
static struct tracewell_thread g_none;
/* Of threads that are too many: their hooks are counted, and that is all. */
static struct place g_too_many[CHANNELS_ALL];
/* Of threads that were not chosen. */
static struct place g_unwanted[CHANNELS_ALL];
__thread struct tracewell_thread* tracewell_hooks_threads[CHANNELS_ALL]
    __attribute__((tls_model("initial-exec"))) = {[0 ... CHANNELS_ALL - 1] = &g_none};
static struct place* g_places;

/* Of the process's next ring; behind the places, and wiped with them when it forks. */
static uint32_t* next_number(void) {
  return (uint32_t*)(void*)((uint8_t*)g_places + PLACES_BYTES);
}

/* Wiped as well: a child that was forked is another process. */
static struct identity* identity_now(void) {
  struct identity* const own = (void*)((uint8_t*)g_places + PLACES_BYTES + IDENTITY_AT);
  struct identity* const one = tracewell_shared_identity ? tracewell_shared_identity : own;
  find_identity(one);
  return one;
}

/* How many rings the process made in a session, by channel; behind them, and wiped as well. */
struct made {
  uint32_t session;
  uint32_t rings;
};
static struct made* made_of(unsigned channel) {
  return (struct made*)(void*)(next_number() + 2) + channel;
}

struct own_losses* own_losses(void) {
  if (!__atomic_load_n(&g_places, __ATOMIC_ACQUIRE)) return NULL;
  return (struct own_losses*)(void*)(made_of(0) + TRACEWELL_HOOK_CHANNELS);
}

/* The process that the places are of; 0 in a child that was forked, which has none yet. A child of
 * vfork has its parent's. */
static uint32_t* places_owner(void) { return next_number() + 1; }

static int map_places(void) {
  const size_t bytes = PLACES_BYTES + TRACEWELL_HOOK_PAGE;
  struct place* none = NULL;
  struct place* fresh;
  if (__atomic_load_n(&g_places, __ATOMIC_ACQUIRE)) return 1;
  fresh = map_wiped(bytes);
  if (!fresh) return 0;
  if (!__atomic_compare_exchange_n(&g_places, &none, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    unmap(fresh, bytes);
  return 1;
}

/* 0: there is no memory for them, or they are another process's. What a child of vfork would begin
 * there, its parent's thread would go on with, and others take for dead. */
static int have_places(void) {
  if (!map_places()) return 0;
  if (*places_owner() == 0) *places_owner() = process_of_memory();
  return *places_owner() == process_id();
}

void begin_losses(uint32_t session) {
  const SignalMask mask = hold_signals();
  if (have_places()) have_losses(own_losses(), session);
  release_signals(mask);
}

/* One that nobody has, or whose thread has died. What the dead one left in its ring stays there,
 * with its number on it. */
static struct place* claim_place(unsigned channel, uint32_t self) {
  const uint32_t process = process_id();
  uint32_t i;
  for (i = 0; i < THREADS_MAX; ++i) {
    struct place* place = &g_places[i];
    uint32_t owner = __atomic_load_n(&place->owner, __ATOMIC_ACQUIRE);
    /* One with our own thread id is another channel's, or of a thread that died before us. */
    if (owner != 0 && (owner == self ? place->channel != channel : thread_lives(process, owner)))
      continue;
    if (__atomic_compare_exchange_n(&place->owner, &owner, self, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return place;
  }
  return NULL;
}

/* PID-NUMBER in the folder of rings; a number that an earlier process of this id has not used. */
static int create_file(int rings, char* name, uint32_t* number) {
  uint32_t tries;
  char* at = put_decimal(name, process_id());
  *at++ = '-';
  for (tries = 0; tries < NAMES_TRIED; ++tries) {
    int fd;
    *number = __atomic_fetch_add(next_number(), 1, __ATOMIC_RELAXED);
    *put_decimal(at, *number) = 0;
    fd = open_file(rings, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd != -EEXIST) return fd;
  }
  return -1;
}

/* A UUID as a log's metadata has it; not ended by a zero. */
static void put_uuid(char* at, const uint8_t* uuid) {
  unsigned i;
  for (i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    *at++ = "0123456789abcdef"[uuid[i] >> 4];
    *at++ = "0123456789abcdef"[uuid[i] & 15];
  }
}

/* Is the folder, which is held, the log of the channel's session, by its metadata? Those of the
 * sessions of a user belong to the same user, and whoever may rename them can give one the name of
 * another. `text` is a buffer of PATH_BYTES. */
static int is_log_of(int log, const struct tracewell_channel* channel, char* text) {
  char uuid[UUID_TEXT];
  struct stat about;
  long got;
  int fd;
  if (!look_at(log, &about) || about.st_uid != geteuid()) return 0;
  fd = open_file(log, "metadata", O_RDONLY | O_NONBLOCK, 0);
  if (fd < 0) return 0;
  got = call(SYS_read, fd, (long)text, TRACEWELL_LOG_UUID_WITHIN, 0, 0, 0);
  close_file(fd);
  put_uuid(uuid, channel->uuid);
  return got > 0 && memmem(text, (size_t)got, uuid, sizeof uuid) != NULL;
}

/* The channel's log, by its path. `path` is a buffer of PATH_BYTES. */
static int hold_log(const struct tracewell_channel* channel, char* path) {
  const size_t length = strnlen(channel->log, sizeof channel->log);
  memcpy(path, channel->log, length);
  path[length] = 0;
  return hold_folder(path, PATH_BYTES);
}

/* The log's folder of rings. The log may be in a folder of others, who may have put something else
 * into its place. The log of a component is in the control file's folder, and has no metadata. */
static int hold_rings(const struct tracewell_channel* channel, unsigned number) {
  char path[PATH_BYTES];
  const int log = hold_log(channel, path);
  int rings;
  if (log < 0) return log;
  rings = number < TRACEWELL_HOOK_CHANNELS && !is_log_of(log, channel, path)
              ? -ESTALE
              : hold_inside(log, ".rings");
  close_file(log);
  return rings;
}

/* A new file in it, with room for the ring. */
static struct tracewell_ring* map_ring(int rings, uint32_t bytes, struct shape* shape) {
  char name[NAME_BYTES];
  struct tracewell_ring* ring = NULL;
  struct stat about;
  const int fd = create_file(rings, name, &shape->number);
  if (fd < 0) return NULL;
  if (allocate_file(fd, bytes) == 0 && look_at(fd, &about)) {
    shape->inode = about.st_ino;
    ring = map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close_file(fd);
  if (!ring) remove_file(rings, name, 0);
  return ring;
}

static struct tracewell_ring* make_ring(const struct tracewell_channel* channel, unsigned number,
                                        struct shape* shape) {
  const uint32_t bytes = TRACEWELL_HOOK_PAGE + channel->slots * channel->packet_bytes;
  struct tracewell_ring* ring;
  const struct identity* identity;
  const int may = number < TRACEWELL_HOOK_CHANNELS ? is_user_of_control() : is_one_user();
  const int rings = may ? hold_rings(channel, number) : -EPERM;
  if (rings < 0) return NULL;
  ring = map_ring(rings, bytes, shape);
  close_file(rings);
  if (!ring) return NULL;
  identity = identity_now();
  shape->packet_bytes = channel->packet_bytes;
  shape->slots = channel->slots;
  shape->mode = channel->mode;
  shape->identity[0] = identity->boot;
  shape->identity[1] = (uint64_t)identity->random[1] << 32 | identity->random[0];
  shape->start = identity->start;
  shape->pid = process_id();
  ring->version = TRACEWELL_RING_VERSION;
  memcpy(ring->identity, shape->identity, sizeof ring->identity);
  ring->start = shape->start;
  ring->record_bytes_max = TRACEWELL_RECORD_BYTES_MAX;
  ring->packet_bytes = shape->packet_bytes;
  ring->slots = shape->slots;
  ring->mode = shape->mode;
  ring->pid = shape->pid;
  ring->number = shape->number;
  ring->session = channel->session;
  ring->channel = number;
  ring->ticks = channel->ticks;
  ring->time_ns = channel->time_ns;
  ring->monotonic_ns = channel->monotonic_ns;
  ring->hertz = channel->hertz;
  memcpy(ring->uuid, channel->uuid, sizeof ring->uuid);
  __atomic_store_n(&ring->magic, TRACEWELL_RING_MAGIC, __ATOMIC_RELEASE);
  return ring;
}

/* A ring of an earlier session goes, unless somebody below us on the stack still looks at it or
 * writes to it. `ours`: of the calls in `turning`, those that do not. */
static void leave_ring(struct place* place, uint32_t ours) {
  struct tracewell_ring* ring = place->ring;
  int whole;
  uint32_t i;
  if (!ring) return;
  if (place->thread.packet)
    place->filled[place->slot] =
        ((uint32_t)place->thread.position & TRACEWELL_OFFSET_MASK) - TRACEWELL_PACKET_HEAD;
  whole = place->turning == ours;
  for (i = 0; i < place->shape.slots; ++i) whole &= slot_is_whole(place, i);
  if (whole)
    unmap(ring, TRACEWELL_HOOK_PAGE + (size_t)place->shape.slots * place->shape.packet_bytes);
  place->ring = NULL;
}

/* The first record says which program it is. Its space is reserved before anything is written to
 * it: whoever finds the ring of a thread that was killed here must not read the name as records. */
static void tell_program(struct place* place) {
  uint8_t* const at = place->thread.packet + TRACEWELL_PACKET_HEAD;
  const uint32_t text = 10;
  struct tracewell_record record;
  uint32_t bytes = (text + PROGRAM_PATH_MAX + 3u) & ~3u;
  uint16_t length;
  long got;
  tracewell_store_32(at, bytes << 8);
  TRACEWELL_BARRIER();
  got = call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)(at + text),
             PROGRAM_PATH_MAX, 0, 0);
  length = got > 0 ? (uint16_t)got : 0;
  bytes = (text + length + 3u) & ~3u;
  record.at = at;
  record.committed = place->thread.committed;
  record.ticks = place->thread.ticks;
  record.bytes = bytes;
  memcpy(at + 8, &length, 2);
  tracewell_commit(&record, TRACEWELL_RECORD_PROGRAM, 0);
  place->thread.position += bytes; /* no record of the program's own, so not counted */
}

/* The ring of a thread that died goes on, in a packet that has our number on it. */
static void adopt_ring(struct place* place) {
  if (place->thread.packet) close_packet(place, tracewell_ticks());
  place->thread.packet = NULL;
  place->adopted = 1;
  if (next_packet(place) || next_ring(place, 0)) return;
  place->thread.position |= TRACEWELL_OFFSET_MASK; /* full: turn later */
}

/* May a process of so many short-lived threads have one more ring? Threads that live may have
 * THREADS_MAX at a time; and more than the log may hold would be of no use. */
static int may_have_one_more(const struct tracewell_channel* channel, unsigned number) {
  const struct made* const made = made_of(number);
  const uint32_t rings = __atomic_load_n(&made->rings, __ATOMIC_RELAXED);
  const uint64_t bytes = (uint64_t)channel->slots * channel->packet_bytes;
  return __atomic_load_n(&made->session, __ATOMIC_RELAXED) == channel->session &&
         rings < THREADS_MAX &&
         (channel->log_bytes == 0 || (rings + 1) * bytes <= channel->log_bytes);
}

static void count_ring(const struct tracewell_channel* channel, unsigned number) {
  struct made* const made = made_of(number);
  const uint32_t before = __atomic_load_n(&made->session, __ATOMIC_RELAXED);
  /* Two threads that begin a session together may count one for both. */
  if (before != channel->session) {
    __atomic_store_n(&made->rings, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&made->session, channel->session, __ATOMIC_RELAXED);
  }
  __atomic_fetch_add(&made->rings, 1, __ATOMIC_RELAXED);
}

/* There may be room for a ring later, or a descriptor. The pauses grow, so that a thread that never
 * finds one is not kept busy by it. */
static void look_again_later(struct place* place, int looked_before) {
  place->pause = looked_before && place->pause != 0 ? place->pause * 2 : RETRY_TICKS_MIN;
  if (place->pause > RETRY_TICKS_MAX) place->pause = RETRY_TICKS_MAX;
  place->retry_at = tracewell_ticks() + place->pause;
}

/* `ring`: NULL if there could be none; `shape` says nothing then. */
static void begin_ring(struct place* place, const struct tracewell_channel* channel,
                       unsigned number, struct tracewell_ring* ring, const struct shape* shape) {
  const int same_session = place->session == channel->session && place->channel == number;
  place->adopted = 0;
  memset(place->numbers, 0, sizeof place->numbers);
  place->session = channel->session;
  place->channel = number;
  memcpy(place->uuid, channel->uuid, sizeof place->uuid);
  place->thread.packet = NULL;
  place->thread.room = 0;
  place->slot = channel->slots - 1;
  place->next = place->overwritten = place->full_at = 0;
  place->ring = ring;
  if (!ring) return look_again_later(place, same_session);
  place->pause = 0;
  place->shape = *shape;
  if (number < TRACEWELL_HOOK_CHANNELS) count_ring(channel, number);
  place->packets = (uint8_t*)ring + TRACEWELL_HOOK_PAGE;
  next_packet(place);
  tell_program(place);
  place->thread.room = channel->packet_bytes;
}

static int has_shape(uint32_t packet_bytes, uint32_t slots) {
  return slots >= 2 && slots <= TRACEWELL_RING_SLOTS_MAX &&
         packet_bytes >= TRACEWELL_PACKET_BYTES_MIN &&
         packet_bytes <= TRACEWELL_PACKET_BYTES_MAX && packet_bytes % TRACEWELL_HOOK_PAGE == 0;
}

static int usable(const struct tracewell_channel* channel, uint32_t state) {
  return channel->session == state >> TRACEWELL_STATE_SESSION_SHIFT &&
         has_shape(channel->packet_bytes, channel->slots);
}

/* The buffers of a component, if a command has changed their size: that stands in its folder. A
 * process that gave up its rights could write it to the block, and fill the disk by our hand. */
static void take_shape(struct tracewell_channel* channel) {
  struct tracewell_shape shape = {0, 0};
  char path[PATH_BYTES];
  const int folder = hold_log(channel, path);
  int fd;
  if (folder < 0) return;
  fd = open_file(folder, TRACEWELL_SHAPE_NAME, O_RDONLY | O_NONBLOCK, 0);
  close_file(folder);
  if (fd < 0) return;
  if (call(SYS_read, fd, (long)&shape, sizeof shape, 0, 0, 0) == (long)sizeof shape &&
      has_shape(shape.packet_bytes, shape.slots)) {
    channel->packet_bytes = shape.packet_bytes;
    channel->slots = shape.slots;
  }
  close_file(fd);
}

/* `name`: of NAME_BYTES. */
static int hold_ring(const struct place* place, const struct tracewell_channel* channel,
                     char* name) {
  char* at = put_decimal(name, process_id());
  *at++ = '-';
  *put_decimal(at, place->shape.number) = 0;
  return hold_rings(channel, place->channel);
}

/* Of a component: commands that want another one remove its file. The session is a number in the
 * block, which who has that may change at each hook. */
static int ring_stays(const struct place* place, const struct tracewell_channel* channel) {
  char name[NAME_BYTES];
  struct stat about;
  int rings;
  int fd;
  if (memcmp(place->uuid, channel->uuid, sizeof place->uuid) != 0) return 0;
  rings = hold_ring(place, channel, name);
  if (rings < 0) return 0;
  fd = open_file(rings, name, O_PATH, 0);
  close_file(rings);
  if (fd < 0) return 0;
  rings = look_at(fd, &about) && about.st_ino == place->shape.inode;
  close_file(fd);
  return rings;
}

/* One of a component that was registered anew: no command looks at it any more. */
static void remove_ring(const struct place* place, const struct tracewell_channel* channel) {
  char name[NAME_BYTES];
  const int rings = hold_ring(place, channel, name);
  if (rings < 0) return;
  remove_file(rings, name, 0);
  close_file(rings);
}

/* `opening`: may files be opened now? */
static void start_ring(struct place* place, struct tracewell_channel* channel, unsigned number,
                       int opening) {
  struct shape shape = {0};
  struct tracewell_ring* ring;
  const int is_component = number >= TRACEWELL_HOOK_CHANNELS;
  if (opening && is_component && place->ring && place->channel == number)
    remove_ring(place, channel);
  if (opening && is_component) take_shape(channel);
  leave_ring(place, 0);
  ring = opening ? make_ring(channel, number, &shape) : NULL;
  begin_ring(place, channel, number, ring, &shape);
}

const struct tracewell_channel* channel_at(unsigned number) {
  const void* const shared = control_pages() + number * TRACEWELL_HOOK_PAGE;
  return shared;
}

static uint32_t state_of(unsigned number) {
  if (number < TRACEWELL_HOOK_CHANNELS) return TRACEWELL_STATE(number);
  return component_state(number - TRACEWELL_HOOK_CHANNELS);
}

struct another_ring {
  struct place* place;
  uint32_t ours; /* see next_ring() */
  int begun;
};

static void begin_another_ring(void* data) {
  struct another_ring* const another = data;
  struct place* const place = another->place;
  struct tracewell_channel channel;
  struct shape shape;
  struct tracewell_ring* ring;
  memcpy(&channel, channel_at(place->channel), sizeof channel);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (channel.session != place->session || !usable(&channel, state_of(place->channel)) ||
      !may_have_one_more(&channel, place->channel))
    return;
  /* Without another one it stays with the full one, which counts what is lost. */
  if (!begin_opening()) return;
  ring = make_ring(&channel, place->channel, &shape);
  end_opening();
  if (!ring) return;
  if (place->thread.packet) close_packet(place, tracewell_ticks());
  leave_ring(place, another->ours);
  begin_ring(place, &channel, place->channel, ring, &shape);
  another->begun = 1;
}

int next_ring(struct place* place, uint32_t ours) {
  struct another_ring another = {place, ours, 0};
  uint32_t i;
  if (!place->adopted || place->channel >= TRACEWELL_HOOK_CHANNELS ||
      place->shape.mode != TRACEWELL_RING_SINGLE)
    return 0;
  /* Whoever was interrupted while it wrote a record would go on with a ring that is not there. */
  for (i = 0; i < place->shape.slots; ++i)
    if (place->thread.packet && i == place->slot
            ? place->committed[i] != offset_now(place) - TRACEWELL_PACKET_HEAD
            : !slot_is_whole(place, i))
      return 0;
  (void)on_own_stack(begin_another_ring, &another);
  return another.begun;
}

static int is_ring_of(const struct place* place, const struct tracewell_channel* channel,
                      unsigned number) {
  return place->ring && place->channel == number && place->session == channel->session;
}

/* A ring for what comes, or none. Returns 1 if it is the one that the place had. */
static int find_ring(struct place* place, struct tracewell_channel* channel, unsigned number) {
  const int opening = begin_opening();
  const int stays = opening && place->ring && place->channel == number &&
                    number >= TRACEWELL_HOOK_CHANNELS && ring_stays(place, channel);
  if (stays)
    place->session = channel->session;
  else
    start_ring(place, channel, number, opening);
  if (opening) end_opening();
  return stays;
}

/* prctl(2), PR_SET_TSC: to some threads it is SIGSEGV. */
static int may_read_ticks(void) {
  int how = PR_TSC_ENABLE;
  call(SYS_prctl, PR_GET_TSC, (long)&how, 0, 0, 0, 0);
  return how != PR_TSC_SIGSEGV;
}

static struct place* enter(unsigned number, uint32_t state) {
  struct place* place = (struct place*)(void*)tracewell_hooks_threads[number];
  struct tracewell_channel channel;
  const uint32_t self = thread_id();
  int claimed = 0;
  if (number < TRACEWELL_HOOK_CHANNELS)
    memcpy(&channel, channel_at(number), sizeof channel);
  else
    copy_component_channel(number - TRACEWELL_HOOK_CHANNELS, &channel);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  /* It was stopped, or stopped and started, just now. */
  if (state_of(number) != state || !usable(&channel, state)) return NULL;
  if ((channel.processes | channel.threads) != 0 && !thread_is_chosen(&channel, self)) {
    place = &g_unwanted[number];
    place->unwanted = 1;
  } else if ((number < TRACEWELL_HOOK_CHANNELS && !is_one_user()) || !may_read_ticks()) {
    count_failure(number, channel.session); /* for the moment */
    return NULL;
  } else if (&place->thread == &g_none || place->owner != self) {
    if (!have_places()) {
      count_failure(number, channel.session); /* for the moment as well */
      return NULL;
    }
    if (number < TRACEWELL_HOOK_CHANNELS) have_losses(own_losses(), channel.session);
    place = claim_place(number, self);
    claimed = 1;
  }
  if (place && place->unwanted) {
    /* The next hook comes here once the session is another one. */
  } else if (!place) {
    place = &g_too_many[number];
    place->channel = number;
  } else {
    place->thread.state = 0;
    if ((is_ring_of(place, &channel, number) || find_ring(place, &channel, number)) && claimed)
      adopt_ring(place);
  }
  place->thread.state = state;
  tracewell_hooks_threads[number] = &place->thread;
  return place;
}

struct entering {
  unsigned channel;
  uint32_t state;
  struct place* place;
};

static void enter_channel(void* data) {
  struct entering* const entering = data;
  entering->place = enter(entering->channel, entering->state);
}

struct tracewell_thread* tracewell_hooks_enter(unsigned channel, uint32_t state, uint32_t word) {
  struct entering entering = {channel, state, NULL};
  SignalMask mask;
  if (!control_pages()) return NULL;
  if (state & TRACEWELL_STATE_FILTERED && !tracewell_hooks_wanted(channel, word)) return NULL;
  mask = hold_signals();
  if (!on_own_stack(enter_channel, &entering))
    count_failure(channel, state >> TRACEWELL_STATE_SESSION_SHIFT);
  release_signals(mask);
  return entering.place ? &entering.place->thread : NULL;
}
