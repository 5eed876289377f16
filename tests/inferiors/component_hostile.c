// Programs that register components, and do what programs do; each exits with 0 if that went well.
// libs: -lrts
//
//   component_hostile HOW [FOLDER]
//   component_hostile worker WORD
// Expects XDG_RUNTIME_DIR to be a folder of its own. FOLDER is one for files of its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ras_trace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/trcctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracewell/hook_layout.h>

#define HOOK 0x12300001u
#define OTHER 12345 /* nobody's number; 65534 may stand for several users */
#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      dprintf(g_told, "line %d: %s\n", __LINE__, #condition);            \
      return 1;                                                          \
    }                                                                    \
  } while (0)

static int g_told = STDERR_FILENO;

/// How many files of this process's have a component of that name.
static int seen(const char* name) {
  char path[4096];
  static struct tracewell_component page;
  int count = 0;
  glob_t found;
  snprintf(path, sizeof path, "%s/tracewell/" TRACEWELL_COMPONENTS_NAME "/%d-*[0-9]",
           getenv("XDG_RUNTIME_DIR"), getpid());
  if (glob(path, 0, NULL, &found) != 0) return 0;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    const int fd = open(found.gl_pathv[i], O_RDONLY);
    for (off_t at = 0; pread(fd, &page, sizeof page, at) == (ssize_t)sizeof page;
         at += TRACEWELL_HOOK_PAGE)
      count += page.used == TRACEWELL_COMPONENT_USED && strcmp(page.name, name) == 0;
    close(fd);
  }
  globfree(&found);
  return count;
}

/// As daemons do: all descriptors are closed, and files of their own are opened.
static int closed(const char* folder) {
  enum { kFiles = 8 };
  static char page[4 * TRACEWELL_HOOK_PAGE], back[8 * sizeof page];
  char path[4096];
  int fds[kFiles];
  CHECK(tracewell_component_register("first", NULL, NULL));
  CHECK(close_range(3, ~0u, 0) == 0);
  for (int i = 0; i < kFiles; ++i) {
    snprintf(path, sizeof path, "%s/data%d", folder, i);
    memset(page, 'A' + i, sizeof page);
    fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fds[i], page, sizeof page) == (ssize_t)sizeof page);
  }
  CHECK(tracewell_component_register("second", NULL, NULL));
  for (int i = 0; i < kFiles; ++i) {
    memset(page, 'A' + i, sizeof page);
    CHECK(pread(fds[i], back, sizeof back, 0) == (ssize_t)sizeof page);
    CHECK(memcmp(page, back, sizeof page) == 0);
  }
  CHECK(seen("first") == 1 && seen("second") == 1);
  return 0;
}

static atomic_int g_stop;
static void* print(void* unused) {
  size_t printed = 0;
  (void)unused;
  while (!g_stop)
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) printed += write(fd, "printed", 7) >= 0;
  return (void*)printed;
}

/// What another thread prints goes nowhere, since nothing is open; it was started so.
static int without_standard_ones(void) {
  pthread_t printing;
  void* printed;
  ras_block_t block = RAS_BLOCK_NULL;
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) CHECK(fcntl(fd, F_GETFD) < 0);
  CHECK(pthread_create(&printing, NULL, print, NULL) == 0);
  for (int i = 0; i < 200; ++i) {
    if (block) tracewell_component_unregister(block);
    block = tracewell_component_register("part", NULL, NULL);
    CHECK(block);
    CT_HOOK1_PRIV(block, 0, HOOK, i);
  }
  g_stop = 1;
  pthread_join(printing, &printed);
  CHECK(printed == NULL);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) CHECK(fcntl(fd, F_GETFD) < 0);
  CHECK(seen("part") == 1);
  return 0;
}

/// Its folder of components is removed meanwhile, as when its user logs out.
static int removed(void) {
  char command[4096];
  const ras_block_t first = tracewell_component_register("first", NULL, NULL);
  CHECK(first);
  snprintf(command, sizeof command, "rm -r '%s/tracewell/" TRACEWELL_COMPONENTS_NAME "'",
           getenv("XDG_RUNTIME_DIR"));
  CHECK(system(command) == 0);
  CHECK(tracewell_component_register("second", NULL, NULL));
  CHECK(seen("second") == 1 && seen("common") == 1 && seen("rare") == 1);
  tracewell_component_unregister(first);
  CHECK(tracewell_component_register("third", NULL, NULL) == first);
  CHECK(seen("third") == 1);
  return 0;
}

static void* cancelled(void* what) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  pthread_cancel(pthread_self());
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  if (*(const char*)what == 't') {
    trcon(0);
  } else {
    const ras_block_t block = tracewell_component_register("first", NULL, NULL);
    CT_HOOK1_PRIV(block, 0, HOOK, 1);
    utrchook(HOOK, 1, 2, 3, 4, 5);
  }
  return NULL;
}

/// A thread that is cancelled while it is in the library leaves nothing that others wait for.
static int cancel(const char* what) {
  pthread_t thread;
  void* result;
  CHECK(pthread_create(&thread, NULL, cancelled, (void*)what) == 0);
  pthread_join(thread, &result);
  CHECK(result != PTHREAD_CANCELED);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
  CHECK(tracewell_component_register("second", NULL, NULL));
  return 0;
}

/// Somebody else writes to the block. `folder` has a folder .rings, which is no component's.
static int forged(const char* folder) {
  const ras_block_t block = tracewell_component_register("part", NULL, NULL);
  char own[sizeof block->channel.log + 16];
  char pattern[4096];
  uint32_t slot;
  glob_t found;
  CHECK(block && block->memory == 1 + TRACEWELL_COMPONENT_LEVEL_MAX);
  slot = block->slot;
  snprintf(own, sizeof own, "%s/.rings/*", block->channel.log);
  snprintf(block->channel.log, sizeof block->channel.log, "%s", folder);
  snprintf(pattern, sizeof pattern, "%s/.rings/*", folder);
  CT_HOOK1(block, 9, MT_PRIV | MT_COMMON | MT_RARE | MT_SYSTEM, HOOK, 1);
  CHECK(glob(pattern, 0, NULL, &found) == GLOB_NOMATCH);
  CHECK(glob(own, 0, NULL, &found) == 0 && found.gl_pathc == 1);
  block->pid = 1;
  block->memory = block->system = block->limit = ~0u;
  block->channel.mode = block->channel.slots = block->channel.packet_bytes = ~0u;
  block->channel.processes = block->channel.threads = block->channel.cpus = ~0u;
  block->channel.session += 1;
  block->state = block->channel.session << TRACEWELL_STATE_SESSION_SHIFT | 0xff;
  CT_HOOK1_PRIV(block, 9, HOOK, 1);
  CT_GEN(block, 9, HOOK, 1, 5, "bytes");
  tracewell_component_unregister(block);
  CHECK(block->used == 0 && block->limit == 0);
  CHECK(tracewell_component_register("part", NULL, NULL) == block);
  CHECK(block->slot == slot && block->pid == (uint32_t)getpid());
  return 0;
}

/// The same, of what once chose where a thread looks for its ring.
static int forged_slot(void) {
  const ras_block_t block = tracewell_component_register("part", NULL, NULL);
  CHECK(block && block->memory == 1 + TRACEWELL_COMPONENT_LEVEL_MAX);
  block->slot = 0x1000000;
  CT_HOOK1_PRIV(block, 9, HOOK, 1);
  return 0;
}

/// Who has the block says that another session has begun, with large buffers.
static int sessions(void) {
  const ras_block_t block = tracewell_component_register("part", NULL, NULL);
  char pattern[4096];
  glob_t found;
  struct stat about;
  CHECK(block && block->memory == 1 + TRACEWELL_COMPONENT_LEVEL_MAX);
  snprintf(pattern, sizeof pattern, "%s/.rings/*", block->channel.log);
  CT_HOOK1_PRIV(block, 9, HOOK, 1);
  CHECK(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
  CHECK(stat(found.gl_pathv[0], &about) == 0);
  const off_t size = about.st_size;
  for (unsigned i = 0; i < 20; ++i) {
    block->channel.packet_bytes = TRACEWELL_PACKET_BYTES_MAX;
    block->channel.session = (block->channel.session + 1) & TRACEWELL_SESSION_MASK;
    block->state = block->channel.session << TRACEWELL_STATE_SESSION_SHIFT | TRACEWELL_STATE_ON;
    CT_HOOK1_PRIV(block, 9, HOOK, 1);
  }
  CHECK(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
  CHECK(stat(found.gl_pathv[0], &about) == 0 && about.st_size == size);
  return 0;
}

static void* register_often(void* unused) {
  for (int i = 0; i < 400; ++i) {
    const ras_block_t block = tracewell_component_register("part", NULL, NULL);
    CT_HOOK1_PRIV(block, 9, HOOK, i);
    tracewell_component_unregister(block);
  }
  atomic_store(&g_stop, 1);
  return unused;
}

/// Has a child a file that may be written to, of those that the library opens and maps?
static int has_files(void) {
  char link[64], name[4096];
  for (int fd = 3; fd < 64; ++fd) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0 || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) continue;
    name[length] = 0;
    if (strstr(name, "/" TRACEWELL_COMPONENTS_NAME "/")) return 1;
  }
  return 0;
}

/// Is forked again and again, while another of its threads makes files.
static int forked(void) {
  pthread_t thread;
  int bad = 0;
  int children = 0;
  CHECK(pthread_create(&thread, NULL, register_often, NULL) == 0);
  for (; !atomic_load(&g_stop) || children < 20; ++children) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(has_files());
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    bad += status != 0;
  }
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(bad == 0);
  return 0;
}

/// Prints the level that rules have set.
static int level(void) {
  const ras_block_t block = tracewell_component_register("part", NULL, NULL);
  CHECK(block);
  printf("%u\n", block->memory_level);
  return 0;
}

/// Acts as another user for a while, whose XDG_RUNTIME_DIR is `folder`: components are not theirs.
static int another_user(const char* folder) {
  char* const own = strdup(getenv("XDG_RUNTIME_DIR"));
  CHECK(setenv("XDG_RUNTIME_DIR", folder, 1) == 0 && seteuid(OTHER) == 0);
  CHECK(!tracewell_component_register("session", NULL, NULL));
  CHECK(setenv("XDG_RUNTIME_DIR", own, 1) == 0 && seteuid(0) == 0);
  CHECK(tracewell_component_register("session", NULL, NULL));
  return 0;
}

/// Has become another user for good, as daemons do, whose XDG_RUNTIME_DIR is `folder`: its
/// components are that user's.
static int dropped(const char* folder) {
  char pattern[4096];
  glob_t found;
  CHECK(setenv("XDG_RUNTIME_DIR", folder, 1) == 0 && setresuid(OTHER, OTHER, OTHER) == 0);
  const ras_block_t block = tracewell_component_register("part", NULL, NULL);
  CHECK(block && block->memory == 1 + TRACEWELL_COMPONENT_LEVEL_MAX);
  snprintf(pattern, sizeof pattern, "%s/.rings/*", block->channel.log);
  CT_HOOK1_PRIV(block, 9, HOOK, 1);
  CHECK(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
  return 0;
}

/// What a worker may write that has given up its rights.
static void forge(struct tracewell_component* block, struct tracewell_component* given_back,
                  const char* word) {
  if (strcmp(word, "uuid") == 0) block->channel.uuid[0] ^= 1;
  if (strcmp(word, "used") == 0) block->used = 0;
  if (strcmp(word, "name") == 0) strcpy(block->name, ".hidden");
  if (strcmp(word, "start") == 0) block->start = 12345;
  if (strcmp(word, "more") == 0) given_back->used = TRACEWELL_COMPONENT_USED;
  if (strcmp(word, "memory") == 0) block->memory_mode = TRACEWELL_MEMORY_OFF;
}

static void* fire(void* block) {
  CT_HOOK1_PRIV((ras_block_t)block, 9, HOOK, 2);
  return NULL;
}

/// Has forked a worker that gives up its rights and writes `word` of the block; then it has a
/// thread, whose ring the worker does not have. Stops when there is an entry of both its threads.
static int worker(const char* word) {
  const ras_block_t block = tracewell_component_register("part", "alias", "type");
  const ras_block_t given_back = tracewell_component_register("other", NULL, NULL);
  pthread_t thread;
  int status;
  CHECK(block && given_back);
  tracewell_component_unregister(given_back);
  CT_HOOK1_PRIV(block, 9, HOOK, 1);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(OTHER, OTHER, OTHER) != 0) _exit(1);
    forge(block, given_back, word);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(pthread_create(&thread, NULL, fire, block) == 0 && pthread_join(thread, NULL) == 0);
  raise(SIGSTOP);
  return 0;
}

/// Gives a component back, and has another one in its place; stops then.
static int given_back(void) {
  const ras_block_t block = tracewell_component_register("part", NULL, NULL);
  pthread_t thread;
  CHECK(block && tracewell_component_register("stays", NULL, NULL));
  CT_HOOK1_PRIV(block, 9, HOOK, 1);
  tracewell_component_unregister(block);
  raise(SIGSTOP);
  CHECK(tracewell_component_register("heir", NULL, NULL) == block);
  CHECK(pthread_create(&thread, NULL, fire, block) == 0 && pthread_join(thread, NULL) == 0);
  raise(SIGSTOP);
  return 0;
}

/// Becomes another user; what it gives back after that, it cannot write to its files. No limit of
/// the size of files is in the way of what it can.
static int dropped_since(void) {
  const struct rlimit none = {0, 0};
  const ras_block_t first = tracewell_component_register("first", NULL, NULL);
  const ras_block_t second = tracewell_component_register("second", NULL, NULL);
  CHECK(first && second && setrlimit(RLIMIT_FSIZE, &none) == 0);
  tracewell_component_unregister(first);
  CHECK(setresuid(OTHER, OTHER, OTHER) == 0);
  tracewell_component_unregister(second);
  CHECK(first->used == 0 && second->used == 0);
  raise(SIGSTOP);
  return 0;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const char* const folder = argc > 2 ? argv[2] : "";
#define IS(word) (strcmp(how, word) == 0)
  if (IS("closed")) return closed(folder);
  if (IS("without")) {
    g_told = 9; /* where it is to tell, and nothing else is open */
    return without_standard_ones();
  }
  if (IS("removed")) return removed();
  if (IS("cancel") || IS("trcon")) return cancel(how);
  if (IS("forged")) return forged(folder);
  if (IS("slot")) return forged_slot();
  if (IS("sessions")) return sessions();
  if (IS("forked")) return forked();
  if (IS("level")) return level();
  if (IS("another_user")) return another_user(folder);
  if (IS("often")) return register_often(NULL) != NULL;
  if (IS("worker")) return worker(folder);
  if (IS("given_back")) return given_back();
  if (IS("dropped_since")) return dropped_since();
  if (IS("dropped")) return dropped(folder);
  return 2;
}
