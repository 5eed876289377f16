/* Component trace: blocks of components in a shared file that ctctrl finds, and their hooks. A
 * component's buffers are rings as those of a channel, circular, in a folder of their own. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <tracewell/aix/sys/ras_trace.h>
#include "inproc/runtime.h"

#define BUFFER_BYTES (256u << 10)
#define SLOTS 16u
#define CLAIMED 2u
#define PATH_MAX_BYTES 2048
#define RULES_NAME "rules"

/* By slot; a component that a parent process registered stays usable in its child. */
static struct tracewell_component* g_blocks[TRACEWELL_COMPONENTS_MAX];
/* Of the process that owns the files. */
static uint32_t g_owner;
static int g_file = -1;
static char g_name[24];

/* The id of the process of which a thread registers a component; 0 = none. Fork copies it: another
 * process's is none. */
static uint32_t g_registering;

/* Threads register one at a time: both would make the file, and claim the slots of those that are
 * there by themselves. Signals are held back, whose handlers would wait for us. */
static SignalMask begin_registering(void) {
  const uint32_t self = process_id();
  const SignalMask mask = hold_signals();
  for (;;) {
    uint32_t who = __atomic_load_n(&g_registering, __ATOMIC_RELAXED);
    if (who == self)
      call(SYS_futex, (long)&g_registering, FUTEX_WAIT_PRIVATE, (long)self, 0, 0, 0);
    else if (__atomic_compare_exchange_n(&g_registering, &who, self, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
      return mask;
  }
}

static void end_registering(SignalMask mask) {
  __atomic_store_n(&g_registering, 0, __ATOMIC_RELEASE);
  call(SYS_futex, (long)&g_registering, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
  release_signals(mask);
}

struct tracewell_component* component_at(unsigned slot) {
  return __atomic_load_n(&g_blocks[slot], __ATOMIC_ACQUIRE);
}

/* The folder of components. */
struct registry {
  int held;
  char path[PATH_MAX_BYTES - 64]; /* with a component's name behind it, it is a log's */
};

static int hold_registry(struct registry* registry) {
  const int above = hold_meeting_place(
      registry->path, sizeof registry->path - sizeof TRACEWELL_COMPONENTS_NAME - 1);
  if (above < 0) return 0;
  strcat(registry->path, "/" TRACEWELL_COMPONENTS_NAME);
  registry->held = make_inside(above, TRACEWELL_COMPONENTS_NAME);
  close_file(above);
  return registry->held >= 0;
}

/* This process's file, PID-RANDOM: what an earlier process with its id has left stays. */
static int open_components(const struct registry* registry) {
  const uint32_t process = process_id();
  uint32_t random = (uint32_t)tracewell_ticks();
  int fd;
  if (g_owner == process) return g_file;
  call(SYS_getrandom, (long)&random, sizeof random, GRND_NONBLOCK, 0, 0, 0);
  snprintf(g_name, sizeof g_name, "%u-%u", process, random);
  fd = open_file(registry->held, g_name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) return -1;
  g_file = fd;
  g_owner = process;
  return fd;
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

static void settle(struct tracewell_component* block) {
  const int memory = block->memory_mode == TRACEWELL_MEMORY_ON;
  block->memory = memory ? block->memory_level + 1 : 0;
  block->system = block->system_mode ? block->system_level + 1 : 0;
  block->channel.active = block->memory_mode != TRACEWELL_MEMORY_OFF;
  block->state = block->channel.session << TRACEWELL_STATE_SESSION_SHIFT |
                 (memory ? TRACEWELL_STATE_ON : 0);
  __atomic_store_n(&block->limit, block->memory > block->system ? block->memory : block->system,
                   __ATOMIC_RELEASE);
}

/* `KEY=NUMBER` of a rule. What is unknown is left out: a later version may have written it. */
static void obey_word(struct tracewell_component* block, const char* word) {
  const char* const value = strchr(word, '=');
  uint64_t number;
  size_t length;
  if (!value) return;
  number = strtoull(value + 1, NULL, 10);
  length = (size_t)(value - word);
#define IS(key) (length == sizeof key - 1 && memcmp(word, key, length) == 0)
  if (IS("memory") && number <= TRACEWELL_MEMORY_SUSPENDED) block->memory_mode = (uint32_t)number;
  if (IS("system")) block->system_mode = number != 0;
  if (IS("memory_level") && number <= TRACEWELL_COMPONENT_LEVEL_MAX)
    block->memory_level = (uint32_t)number;
  if (IS("system_level") && number <= TRACEWELL_COMPONENT_LEVEL_MAX)
    block->system_level = (uint32_t)number;
  if (IS("buffer") && number > 0) block->buffer_bytes = number;
#undef IS
}

/* A line: c|l|t, a pattern, words. */
static void obey_rule(struct tracewell_component* block, char* line) {
  char* rest = NULL;
  const char* const kind = strtok_r(line, " \n", &rest);
  const char* const pattern = strtok_r(NULL, " \n", &rest);
  const char* what;
  const char* word;
  if (!kind || !pattern) return;
  what = *kind == 'c' ? block->name : *kind == 'l' ? block->alias : block->type;
  if (fnmatch(pattern, what, 0) != 0) return;
  while ((word = strtok_r(NULL, " \n", &rest)) != NULL) obey_word(block, word);
}

static void obey_file(struct tracewell_component* block, FILE* file) {
  char line[1024];
  if (!file) return;
  while (fgets(line, sizeof line, file)) obey_rule(block, line);
  fclose(file);
}

/* Those that outlive a restart first, so that those of now are stronger. */
static void obey_rules(struct tracewell_component* block, const struct registry* registry) {
  char path[PATH_MAX_BYTES + 32];
  const int rules = open_file(registry->held, RULES_NAME, O_RDONLY, 0);
  const char* const named = secure_getenv("TRACEWELL_COMPONENTS");
  const char* const state = secure_getenv("XDG_STATE_HOME");
  const char* const home = secure_getenv("HOME");
  if (named && *named)
    snprintf(path, sizeof path, "%s", named);
  else if (geteuid() == 0)
    snprintf(path, sizeof path, "/etc/tracewell/components");
  else if (state && *state == '/')
    snprintf(path, sizeof path, "%s/tracewell/components", state);
  else
    snprintf(path, sizeof path, "%s/.local/state/tracewell/components", home ? home : "");
  obey_file(block, fopen(path, "re"));
  if (rules >= 0) obey_file(block, fdopen(rules, "r"));
}

/* NULL: all are taken. The block is claimed then, and not yet used. */
static struct tracewell_component* claim(unsigned slot, int fd) {
  struct tracewell_component* old = component_at(slot);
  struct tracewell_component* fresh;
  uint32_t free_one = 0;
  if (old)
    return old->pid == process_id() &&
                   __atomic_compare_exchange_n(&old->used, &free_one, CLAIMED, 0,
                                               __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
               ? old
               : NULL;
  if (allocate_file(fd, (slot + 1) * TRACEWELL_HOOK_PAGE) != 0) return NULL;
  fresh = map(NULL, TRACEWELL_HOOK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
              slot * TRACEWELL_HOOK_PAGE);
  if (!fresh) return NULL;
  fresh->used = CLAIMED;
  if (__atomic_compare_exchange_n(&g_blocks[slot], &old, fresh, 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED))
    return fresh;
  unmap(fresh, TRACEWELL_HOOK_PAGE);
  return NULL;
}

/* What tells it from an earlier process of its number. Threads register one at a time. */
static uint32_t start_of_process(void) {
  static struct identity one;
  static uint32_t whose;
  if (whose != process_id()) memset(&one, 0, sizeof one);
  whose = process_id();
  find_identity(&one);
  return (uint32_t)one.start;
}

static struct tracewell_component* fill(struct tracewell_component* block, unsigned slot,
                                        const struct registry* registry, const char* name,
                                        const char* alias, const char* type) {
  char own[sizeof g_name + 12];
  const uint32_t session = block->channel.session ? block->channel.session : process_id();
  memset(&block->slot, 0, sizeof *block - offsetof(struct tracewell_component, slot));
  block->slot = slot;
  block->pid = process_id();
  block->start = start_of_process();
  block->memory_level = block->system_level = TRACEWELL_COMPONENT_NORMAL;
  block->buffer_bytes = BUFFER_BYTES;
  /* Another one than any that a thread may know of this slot. */
  block->channel.session = (session + 1) & 0xffffffu;
  snprintf(block->name, sizeof block->name, "%s", name);
  snprintf(block->alias, sizeof block->alias, "%s", alias ? alias : "");
  snprintf(block->type, sizeof block->type, "%s", type ? type : "");
  obey_rules(block, registry);
  describe_rings(block);
  snprintf(own, sizeof own, "%s.%u", g_name, block->slot);
  snprintf(block->channel.log, sizeof block->channel.log, "%s/%s", registry->path, own);
  if (block->memory_mode != TRACEWELL_MEMORY_OFF && !make_rings_folder(registry, own))
    block->memory_mode = TRACEWELL_MEMORY_OFF;
  settle(block);
  __atomic_store_n(&block->used, TRACEWELL_COMPONENT_USED, __ATOMIC_RELEASE);
  return block;
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

static ras_block_t add(unsigned first, unsigned last, const struct registry* registry, int fd,
                       const char* name, const char* alias, const char* type) {
  unsigned slot;
  for (slot = first; slot < last; ++slot) {
    struct tracewell_component* const block = claim(slot, fd);
    if (block) return fill(block, slot, registry, name, alias, type);
  }
  return RAS_BLOCK_NULL;
}

static ras_block_t enrol_in(const struct registry* registry, const char* name, const char* alias,
                            const char* type) {
  const unsigned common = TRACEWELL_COMPONENT_COMMON;
  const unsigned rare = TRACEWELL_COMPONENT_RARE;
  const int fd = open_components(registry);
  if (fd < 0) return RAS_BLOCK_NULL;
  add(common, common + 1, registry, fd, "common", NULL, NULL);
  add(rare, rare + 1, registry, fd, "rare", NULL, NULL);
  return add(rare + 1, TRACEWELL_COMPONENTS_MAX, registry, fd, name, alias, type);
}

static ras_block_t enrol(const char* name, const char* alias, const char* type) {
  struct registry registry;
  ras_block_t block;
  if (!hold_registry(&registry)) return RAS_BLOCK_NULL;
  block = enrol_in(&registry, name, alias, type);
  close_file(registry.held);
  return block;
}

ras_block_t tracewell_component_register(const char* name, const char* alias, const char* type) {
  const struct tracewell_component* shape = NULL;
  SignalMask mask;
  ras_block_t block;
  if (!name || !*name || *name == '.' || !is_name(name, sizeof shape->name) ||
      !is_name(alias, sizeof shape->alias) || !is_name(type, sizeof shape->type))
    return RAS_BLOCK_NULL;
  if (!control_pages()) return RAS_BLOCK_NULL;
  mask = begin_registering();
  block = enrol(name, alias, type);
  end_registering(mask);
  return block;
}

void tracewell_component_unregister(ras_block_t block) {
  if (!block || block->pid != process_id()) return;
  block->memory_mode = TRACEWELL_MEMORY_OFF;
  block->system_mode = 0;
  settle(block);
  __atomic_store_n(&block->used, 0, __ATOMIC_RELEASE);
}

/* What is in buffers stays, for somebody to look at. */
__attribute__((destructor)) static void leave(void) {
  struct registry registry;
  unsigned slot;
  if (g_file < 0 || g_owner != process_id()) return;
  for (slot = 0; slot < TRACEWELL_COMPONENTS_MAX; ++slot) {
    const struct tracewell_component* const block = component_at(slot);
    if (block && block->pid == g_owner && block->memory_mode != TRACEWELL_MEMORY_OFF) return;
  }
  if (!hold_registry(&registry)) return;
  remove_file(registry.held, g_name, 0);
  close_file(registry.held);
}

static uint32_t state_of(const struct tracewell_component* block) {
  return __atomic_load_n(&block->state, __ATOMIC_RELAXED);
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
      for (i = 0; i < 3; ++i)                                                               \
        if (to[i] && state_of(to[i]) & TRACEWELL_STATE_ON)                                  \
          write(TRACEWELL_HOOK_CHANNELS + to[i]->slot, state_of(to[i]));                    \
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
