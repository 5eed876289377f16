/* Component trace: blocks of components in a shared file that ctctrl finds, and their hooks. A
 * component's buffers are rings as those of a channel, circular, in a folder of their own.
 *
 * Whoever has the file, or was forked and gave up rights since, may write to a block at any time.
 * So what decides where anything is, is kept in memory of this process's. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include <tracewell/aix/sys/ras_trace.h>
#include "inproc/runtime.h"

#define BUFFER_BYTES (256u << 10)
#define SLOTS 16u
#define CLAIMED 2u
#define PATH_MAX_BYTES 2048
#define NAME_BYTES 24 /* two numbers */

/* By slot; a component that a parent process registered stays usable in its child. */
static struct {
  struct tracewell_component* block; /* NULL = none was registered */
  struct tracewell_channel channel;  /* its buffers, as they were then */
} g_kept[TRACEWELL_COMPONENTS_MAX];
/* A page for each slot, and nothing where no block is: where a block is, its slot is known by. */
static uint8_t* g_range;
/* What becomes a block. Threads register one at a time. */
static struct tracewell_component g_fresh;

enum slot_use { NOT_OURS, IN_USE, GIVEN_BACK };

/* Wiped when the process forks. */
struct own {
  uint32_t process;     /* that these are of; a child of vfork has its parent's */
  uint32_t registering; /* a thread that registers a component; 0 = none does */
  uint32_t slots[TRACEWELL_COMPONENTS_MAX]; /* enum slot_use */
  struct identity identity;
  char name[NAME_BYTES]; /* of its file; empty = there is none */
  dev_t device;
  ino_t inode;
};
static struct own* g_own;

/* NULL: there can be none here. */
static struct own* find_own(void) {
  const uint32_t self = process_id();
  struct own* own = __atomic_load_n(&g_own, __ATOMIC_ACQUIRE);
  uint32_t nobody = 0;
  if (!own) {
    struct own* const fresh = map_wiped(sizeof *fresh);
    if (!fresh) return NULL;
    if (__atomic_compare_exchange_n(&g_own, &own, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      own = fresh;
    else
      unmap(fresh, sizeof *fresh);
  }
  __atomic_compare_exchange_n(&own->process, &nobody, process_of_memory(), 0, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return own->process == self ? own : NULL;
}

/* Threads register one at a time: both would make the file, and claim the slots of those that are
 * there by themselves. Signals are held back, whose handlers would wait for us. One that dies in
 * the middle (a filter of system calls ends it) leaves the word as it is. */
static SignalMask begin_registering(struct own* own) {
  const struct timespec look = {0, 50000000};
  const SignalMask mask = hold_signals();
  const uint32_t self = thread_id();
  uint32_t other = 0;
  while (!__atomic_compare_exchange_n(&own->registering, &other, self, 0, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
    if (other == 0) continue; /* it has just been given back */
    call(SYS_futex, (long)&own->registering, FUTEX_WAIT_PRIVATE, other, (long)&look, 0, 0);
    if (other != self && thread_lives(own->process, other)) other = 0;
  }
  return mask;
}

static void end_registering(struct own* own, SignalMask mask) {
  __atomic_store_n(&own->registering, 0, __ATOMIC_RELEASE);
  call(SYS_futex, (long)&own->registering, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
  release_signals(mask);
}

/* TRACEWELL_COMPONENTS_MAX or more: it is none. */
static uintptr_t slot_of(const struct tracewell_component* block) {
  return ((uintptr_t)block - (uintptr_t)g_range) / TRACEWELL_HOOK_PAGE;
}

struct tracewell_component* component_at(unsigned slot) {
  return __atomic_load_n(&g_kept[slot].block, __ATOMIC_ACQUIRE);
}

/* Nothing is chosen by hook or processor here. */
static uint32_t state_in(const struct tracewell_component* block) {
  return __atomic_load_n(&block->state, __ATOMIC_RELAXED) &
         (TRACEWELL_SESSION_MASK << TRACEWELL_STATE_SESSION_SHIFT | TRACEWELL_STATE_ON);
}

uint32_t component_state(unsigned slot) { return state_in(component_at(slot)); }

void copy_component_channel(unsigned slot, struct tracewell_channel* channel) {
  const struct tracewell_channel* const shared = &component_at(slot)->channel;
  memcpy(channel, &g_kept[slot].channel, sizeof *channel);
  /* What commands change; the size of buffers they write into a file (take_shape). */
  channel->session = __atomic_load_n(&shared->session, __ATOMIC_RELAXED);
}

/* The folder of components, and this process's files in it. */
struct registry {
  int held;
  int blocks;
  struct tracewell_registered* registered;
  char path[PATH_MAX_BYTES - 64]; /* with a component's name behind it, it is a log's */
};

static int hold_registry(struct registry* registry) {
  int above;
  if (!is_one_user()) return 0;
  above = hold_meeting_place(registry->path,
                             sizeof registry->path - sizeof TRACEWELL_COMPONENTS_NAME - 1);
  if (above < 0) return 0;
  strcat(registry->path, "/" TRACEWELL_COMPONENTS_NAME);
  registry->held = make_inside(above, TRACEWELL_COMPONENTS_NAME);
  close_file(above);
  return registry->held >= 0;
}

/* Those that were made before. */
static int open_again(const struct own* own, struct registry* registry) {
  const int fd = open_file(registry->held, own->name, O_RDWR | O_NONBLOCK, 0);
  struct stat about;
  if (fd < 0) return 0;
  if (look_at(fd, &about) && about.st_dev == own->device && about.st_ino == own->inode)
    registry->registered = map_registered(registry->held, own->name);
  registry->blocks = fd;
  if (registry->registered) return 1;
  close_file(fd);
  return 0;
}

/* PID-RANDOM: what an earlier process with its id has left stays. Who finds the blocks finds what
 * is registered, too. */
static int make_files(struct own* own, struct registry* registry) {
  uint32_t random = (uint32_t)tracewell_ticks();
  struct stat about;
  call(SYS_getrandom, (long)&random, sizeof random, GRND_NONBLOCK, 0, 0, 0);
  snprintf(own->name, sizeof own->name, "%u-%u", own->process, random);
  find_identity(&own->identity);
  registry->registered = make_registered(registry->held, own->name, own->identity.start);
  registry->blocks = registry->registered
                         ? open_file(registry->held, own->name, O_RDWR | O_CREAT | O_EXCL, 0600)
                         : -1;
  if (registry->blocks >= 0 && look_at(registry->blocks, &about)) {
    own->device = about.st_dev;
    own->inode = about.st_ino;
    return 1;
  }
  if (registry->blocks >= 0) close_file(registry->blocks);
  if (registry->registered) {
    unmap_registered(registry->registered);
    remove_registered(registry->held, own->name);
  }
  own->name[0] = 0;
  return 0;
}

/* This process's files. No descriptor is kept: the program may close it, and open a file of its own
 * that has the number then. */
static int open_files(struct own* own, struct registry* registry) {
  unsigned slot;
  registry->registered = NULL;
  if (own->name[0] && open_again(own, registry)) return 1;
  /* Where it is gone, or the process has become another user's, those two are to be found again. */
  for (slot = TRACEWELL_COMPONENT_COMMON; slot <= TRACEWELL_COMPONENT_RARE; ++slot)
    if (own->slots[slot] == IN_USE) own->slots[slot] = GIVEN_BACK;
  return make_files(own, registry);
}

static void close_files(const struct registry* registry) {
  close_file(registry->blocks);
  unmap_registered(registry->registered);
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void describe_rings(struct tracewell_component* block) {
  struct tracewell_channel* channel = &block->channel;
  uint64_t packet = block->buffer_bytes / SLOTS / TRACEWELL_HOOK_PAGE * TRACEWELL_HOOK_PAGE;
  if (packet < TRACEWELL_PACKET_BYTES_MIN) packet = TRACEWELL_PACKET_BYTES_MIN;
  if (packet > TRACEWELL_PACKET_BYTES_MAX) packet = TRACEWELL_PACKET_BYTES_MAX;
  channel->mode = TRACEWELL_RING_CIRCULAR;
  channel->packet_bytes = (uint32_t)packet;
  channel->slots = SLOTS;
  channel->ticks = tracewell_ticks();
  channel->time_ns = (int64_t)clock_ns(CLOCK_REALTIME);
  channel->monotonic_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
  call(SYS_getrandom, (long)channel->uuid, sizeof channel->uuid, 0, 0, 0, 0);
}

/* `name`: of the component's own folder. */
static int make_rings_folder(const struct registry* registry, const char* name) {
  const int own = make_inside(registry->held, name);
  int rings;
  if (own < 0) return 0;
  rings = make_inside(own, ".rings");
  close_file(own);
  if (rings < 0) return 0;
  close_file(rings);
  return 1;
}

/* NULL: it is taken. The block is claimed then, and not yet used. */
static struct tracewell_component* claim(struct own* own, unsigned slot, int fd) {
  struct tracewell_component* const old = component_at(slot);
  struct tracewell_component* block;
  if (old && __atomic_load_n(&own->slots[slot], __ATOMIC_ACQUIRE) != GIVEN_BACK) return NULL;
  if (old) __atomic_store_n(&old->state, 0, __ATOMIC_RELEASE);
  if (allocate_file(fd, (slot + 1) * TRACEWELL_HOOK_PAGE) != 0) return NULL;
  /* The file may be another one than before. */
  if (old)
    g_kept[slot].channel.session = __atomic_load_n(&old->channel.session, __ATOMIC_RELAXED);
  block = map(g_range + slot * TRACEWELL_HOOK_PAGE, TRACEWELL_HOOK_PAGE, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_FIXED, fd, slot * TRACEWELL_HOOK_PAGE);
  if (block) __atomic_store_n(&block->used, CLAIMED, __ATOMIC_RELEASE);
  return block;
}

static void settle(struct tracewell_component* block) {
  const int memory = block->memory_mode == TRACEWELL_MEMORY_ON;
  block->memory = memory ? block->memory_level + 1 : 0;
  block->system = block->system_mode ? block->system_level + 1 : 0;
  block->channel.active = block->memory_mode != TRACEWELL_MEMORY_OFF;
  block->state = block->channel.session << TRACEWELL_STATE_SESSION_SHIFT |
                 (memory ? TRACEWELL_STATE_ON : 0);
  block->limit = block->memory > block->system ? block->memory : block->system;
}

/* A session other than any that a thread may know of this slot. */
static uint32_t next_session(unsigned slot) {
  const uint32_t before = g_kept[slot].channel.session;
  const uint32_t next = ((before ? before : process_id()) + 1) & TRACEWELL_SESSION_MASK;
  return next ? next : 1;
}

static void describe(struct tracewell_component* fresh, struct own* own, unsigned slot,
                     const struct registry* registry) {
  char name[NAME_BYTES + 12];
  fresh->slot = slot;
  fresh->pid = own->process;
  fresh->start = (uint32_t)own->identity.start;
  fresh->memory_level = fresh->system_level = TRACEWELL_COMPONENT_NORMAL;
  fresh->buffer_bytes = BUFFER_BYTES;
  fresh->channel.session = next_session(slot);
  obey_rules(fresh, registry->held);
  describe_rings(fresh);
  snprintf(name, sizeof name, "%s.%u", own->name, slot);
  snprintf(fresh->channel.log, sizeof fresh->channel.log, "%s/%s", registry->path, name);
  if (fresh->memory_mode != TRACEWELL_MEMORY_OFF && !make_rings_folder(registry, name))
    fresh->memory_mode = TRACEWELL_MEMORY_OFF;
  settle(fresh);
}

/* What hooks and commands look at comes last. */
static void publish(struct tracewell_component* block, struct tracewell_component* fresh) {
  const uint32_t state = fresh->state;
  const uint32_t limit = fresh->limit;
  const size_t from = offsetof(struct tracewell_component, slot);
  fresh->state = fresh->limit = 0;
  memcpy((uint8_t*)block + from, (const uint8_t*)fresh + from, sizeof *block - from);
  __atomic_store_n(&block->state, state, __ATOMIC_RELEASE);
  __atomic_store_n(&block->limit, limit, __ATOMIC_RELEASE);
  __atomic_store_n(&block->used, TRACEWELL_COMPONENT_USED, __ATOMIC_RELEASE);
}

/* No blanks nor control characters: rules and lists have names between blanks. */
static int is_name(const char* text, size_t size) {
  size_t i;
  if (!text) return 1;
  if (strnlen(text, size) == size) return 0;
  for (i = 0; text[i]; ++i)
    if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f || text[i] == '/') return 0;
  return 1;
}

static ras_block_t add(struct own* own, unsigned first, unsigned last,
                       const struct registry* registry) {
  unsigned slot;
  for (slot = first; slot < last; ++slot) {
    struct tracewell_component* const block = claim(own, slot, registry->blocks);
    if (!block) continue;
    describe(&g_fresh, own, slot, registry);
    g_kept[slot].channel = g_fresh.channel;
    forget_failures_of(slot);
    begin_registration(registry->registered, slot, &g_fresh);
    publish(block, &g_fresh);
    set_registration(registry->registered, slot, TRACEWELL_REGISTERED_DONE);
    __atomic_store_n(&g_kept[slot].block, block, __ATOMIC_RELEASE);
    __atomic_store_n(&own->slots[slot], IN_USE, __ATOMIC_RELEASE);
    return block;
  }
  return RAS_BLOCK_NULL;
}

static void name_fresh(const char* name, const char* alias, const char* type) {
  memset(&g_fresh, 0, sizeof g_fresh);
  snprintf(g_fresh.name, sizeof g_fresh.name, "%s", name);
  snprintf(g_fresh.alias, sizeof g_fresh.alias, "%s", alias ? alias : "");
  snprintf(g_fresh.type, sizeof g_fresh.type, "%s", type ? type : "");
}

static ras_block_t enrol_in(struct own* own, struct registry* registry, const char* name,
                            const char* alias, const char* type) {
  const unsigned common = TRACEWELL_COMPONENT_COMMON;
  const unsigned rare = TRACEWELL_COMPONENT_RARE;
  ras_block_t block;
  if (!open_files(own, registry)) return RAS_BLOCK_NULL;
  name_fresh("common", NULL, NULL);
  add(own, common, common + 1, registry);
  name_fresh("rare", NULL, NULL);
  add(own, rare, rare + 1, registry);
  name_fresh(name, alias, type);
  block = add(own, rare + 1, TRACEWELL_COMPONENTS_MAX, registry);
  close_files(registry);
  return block;
}

static ras_block_t enrol(struct own* own, const char* name, const char* alias, const char* type) {
  struct registry registry;
  ras_block_t block;
  if (!g_range)
    g_range = map(NULL, TRACEWELL_COMPONENTS_MAX * TRACEWELL_HOOK_PAGE, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!g_range || !hold_registry(&registry)) return RAS_BLOCK_NULL;
  block = enrol_in(own, &registry, name, alias, type);
  close_file(registry.held);
  return block;
}

ras_block_t tracewell_component_register(const char* name, const char* alias, const char* type) {
  const struct tracewell_component* shape = NULL;
  const int before = errno;
  SignalMask mask;
  ras_block_t block;
  struct own* own;
  if (!name || !*name || *name == '.' || !is_name(name, sizeof shape->name) ||
      !is_name(alias, sizeof shape->alias) || !is_name(type, sizeof shape->type))
    return RAS_BLOCK_NULL;
  if (!control_pages()) return RAS_BLOCK_NULL;
  own = find_own();
  if (!own) return RAS_BLOCK_NULL;
  mask = begin_registering(own);
  block = RAS_BLOCK_NULL;
  if (begin_opening_at_last()) {
    block = enrol(own, name, alias, type);
    end_opening();
  }
  if (block) begin_losses(SESSION_OF_COMPONENTS);
  end_registering(own, mask);
  errno = before;
  return block;
}

/* Its file says so, too, where the process may still write to it. */
static void give_back(struct own* own, unsigned slot, struct tracewell_registered* registered) {
  struct tracewell_component* const block = component_at(slot);
  if (registered) set_registration(registered, slot, TRACEWELL_REGISTERED_SOON);
  block->memory_mode = TRACEWELL_MEMORY_OFF;
  block->system_mode = 0;
  settle(block);
  __atomic_store_n(&block->used, 0, __ATOMIC_SEQ_CST);
  if (registered) set_registration(registered, slot, TRACEWELL_REGISTERED_NOT);
  __atomic_store_n(&own->slots[slot], GIVEN_BACK, __ATOMIC_RELEASE);
}

static void withdraw(struct own* own, unsigned slot) {
  const int may_open = begin_opening_at_last();
  struct registry registry = {.held = -1, .registered = NULL};
  if (own->slots[slot] == IN_USE) {
    const int is_held = may_open && own->name[0] && hold_registry(&registry);
    const int is_open = is_held && open_again(own, &registry);
    give_back(own, slot, registry.registered);
    if (is_open) close_files(&registry);
    if (is_held) close_file(registry.held);
  }
  if (may_open) end_opening();
}

void tracewell_component_unregister(ras_block_t block) {
  struct own* const own = __atomic_load_n(&g_own, __ATOMIC_ACQUIRE);
  const uintptr_t slot = slot_of(block);
  const int before = errno;
  SignalMask mask;
  if (slot >= TRACEWELL_COMPONENTS_MAX || !own || own->process != process_id() ||
      __atomic_load_n(&own->slots[slot], __ATOMIC_ACQUIRE) != IN_USE)
    return;
  mask = begin_registering(own);
  withdraw(own, (unsigned)slot);
  end_registering(own, mask);
  errno = before;
}

/* Commands make the folder when they switch memory trace on, and remove it when they switch it off.
 * The block may say anything. */
static int has_rings(const struct own* own, const struct registry* registry, unsigned slot) {
  char name[NAME_BYTES + 12];
  int folder;
  int rings;
  snprintf(name, sizeof name, "%s.%u", own->name, slot);
  folder = hold_inside(registry->held, name);
  if (folder < 0) return 0;
  rings = hold_inside(folder, ".rings");
  close_file(folder);
  if (rings < 0) return 0;
  close_file(rings);
  return 1;
}

/* What is in buffers stays, for somebody to look at. */
static void leave_registry(const struct own* own, const struct registry* registry) {
  unsigned slot;
  for (slot = 0; slot < TRACEWELL_COMPONENTS_MAX; ++slot)
    if (own->slots[slot] == IN_USE && has_rings(own, registry, slot)) return;
  remove_file(registry->held, own->name, 0);
  remove_registered(registry->held, own->name);
}

__attribute__((destructor)) static void leave(void) {
  const struct own* const own = __atomic_load_n(&g_own, __ATOMIC_ACQUIRE);
  struct registry registry;
  if (!own || own->process != process_id() || !own->name[0] || !begin_opening()) return;
  if (hold_registry(&registry)) {
    leave_registry(own, &registry);
    close_file(registry.held);
  }
  end_opening();
}

/* Calls `write` for each place that the entry goes to. A component that is not in its own process's
 * memory trace is not in the shared buffers either. */
#define TO_ALL(write)                                                                       \
  do {                                                                                      \
    if (level < block->system && (destination & MT_SYSTEM)) {                               \
      const uint32_t state = TRACEWELL_STATE(0);                                            \
      if (TRACEWELL_IS_ON(state)) write(0, state);                                          \
    }                                                                                       \
    if (level < block->memory) {                                                            \
      const struct tracewell_component* to[3] = {0, 0, 0};                                  \
      unsigned i;                                                                           \
      if (destination & MT_PRIV) to[0] = block;                                             \
      if (destination & MT_COMMON) to[1] = component_at(TRACEWELL_COMPONENT_COMMON);        \
      if (destination & MT_RARE) to[2] = component_at(TRACEWELL_COMPONENT_RARE);            \
      for (i = 0; i < 3; ++i) {                                                             \
        const uint32_t state = to[i] ? state_in(to[i]) : 0;                                 \
        const uintptr_t slot = slot_of(to[i]);                                              \
        if (state & TRACEWELL_STATE_ON && slot < TRACEWELL_COMPONENTS_MAX)                  \
          write(TRACEWELL_HOOK_CHANNELS + (unsigned)slot, state);                           \
      }                                                                                     \
    }                                                                                       \
  } while (0)

void tracewell_component_hook(ras_block_t block, unsigned level, unsigned destination,
                              unsigned int word, unsigned count, unsigned long d1,
                              unsigned long d2, unsigned long d3, unsigned long d4,
                              unsigned long d5) {
#define WRITE(channel, state) \
  tracewell_hook_words(channel, state, TRACEWELL_RECORD_TIMED, word, count, d1, d2, d3, d4, d5)
  TO_ALL(WRITE);
#undef WRITE
}

void tracewell_component_data(ras_block_t block, unsigned level, unsigned destination,
                              unsigned int word, unsigned long d1, unsigned long length,
                              const void* bytes) {
#define WRITE(channel, state) \
  tracewell_hook_data(channel, state, TRACEWELL_RECORD_TIMED, word, d1, length, bytes)
  TO_ALL(WRITE);
#undef WRITE
}
