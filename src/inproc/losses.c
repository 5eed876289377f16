/* Hooks of threads that have no ring. They are counted where all programs of the user count, and by
 * programs of root's, which may give up their rights, in a page of their own as well
 * (hook_losses.h). */
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define PATH_BYTES 1200 /* of the folder's, with what links add to it */
#define NAME_BYTES 24   /* two numbers */
#define TRIES 64        /* what was forked may change the word all the time */

static char g_folder[PATH_BYTES];         /* the control file's; empty = too long */
static uint64_t g_control;                /* inode of that file */
static struct tracewell_failures* g_failures;

void find_failures(const char* folder, int control, struct tracewell_failures* page) {
  struct stat about;
  const size_t length = strlen(folder);
  if (length < sizeof g_folder / 2) memcpy(g_folder, folder, length + 1);
  if (look_at(control, &about)) g_control = about.st_ino;
  g_failures = page;
}

static int hold_losses(void) {
  char path[PATH_BYTES];
  int above;
  int folder;
  if (!g_folder[0]) return -1;
  memcpy(path, g_folder, sizeof path);
  above = hold_kept_folder(path, sizeof path);
  if (above < 0) return above;
  folder = make_inside(above, TRACEWELL_LOSSES_NAME);
  close_file(above);
  return folder;
}

static struct tracewell_losses* make_losses(int folder) {
  char name[NAME_BYTES];
  char* at = put_decimal(name, process_id());
  uint32_t random = (uint32_t)tracewell_ticks();
  struct identity one = {0, 0, {0, 0}};
  struct tracewell_losses* out = NULL;
  int fd;
  call(SYS_getrandom, (long)&random, sizeof random, GRND_NONBLOCK, 0, 0, 0);
  *at++ = '-';
  *put_decimal(at, random) = 0;
  fd = open_file(folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) return NULL;
  if (allocate_file(fd, TRACEWELL_HOOK_PAGE) == 0)
    out = map(NULL, TRACEWELL_HOOK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close_file(fd);
  if (!out) {
    remove_file(folder, name, 0);
    return NULL;
  }
  /* What the process forks may have given up its rights. */
  call(SYS_madvise, (long)out, TRACEWELL_HOOK_PAGE, MADV_DONTFORK, 0, 0, 0);
  find_identity(&one);
  out->pid = process_id();
  out->start = one.start;
  out->control = g_control;
  __atomic_store_n(&out->magic, TRACEWELL_LOSSES_MAGIC, __ATOMIC_RELEASE);
  return out;
}

void have_losses(struct own_losses* own, uint32_t session) {
  struct tracewell_losses* page;
  int folder;
  if (own->page || own->tried == session) return;
  own->tried = session;
  if (geteuid() != 0 || !begin_opening()) return;
  folder = hold_losses();
  page = folder < 0 ? NULL : make_losses(folder);
  if (folder >= 0) close_file(folder);
  end_opening();
  if (page) __atomic_store_n(&own->page, page, __ATOMIC_RELEASE);
}

/* A hook of a session before comes too late to count. */
static int is_of_before(uint32_t session, uint32_t now) {
  return ((session - now) & TRACEWELL_SESSION_MASK) > TRACEWELL_SESSION_MASK / 2;
}

static void count_own(tracewell_shared* word, uint32_t session) {
  const uint64_t first = (uint64_t)session << TRACEWELL_LOSSES_SESSION_SHIFT;
  uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
  int tries;
  for (tries = 0; tries < TRIES; ++tries) {
    const uint32_t now = (uint32_t)(before >> TRACEWELL_LOSSES_SESSION_SHIFT);
    if (now != session && now != 0 && is_of_before(session, now)) return;
    if (__atomic_compare_exchange_n(word, &before, (now == session ? before : first) + 1, 0,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

static struct tracewell_losses* own_page(void) {
  struct own_losses* const own = own_losses();
  return own ? __atomic_load_n(&own->page, __ATOMIC_ACQUIRE) : NULL;
}

void forget_failures_of(unsigned slot) {
  struct tracewell_losses* const page = own_page();
  if (page) __atomic_store_n(&page->of_components[slot], 0, __ATOMIC_RELAXED);
}

/* That of all first: it never has less. */
static void count_failure_of(unsigned slot) {
  struct tracewell_losses* const page = own_page();
  __atomic_fetch_add(&component_at(slot)->lost, 1, __ATOMIC_RELEASE);
  if (page) __atomic_fetch_add(&page->of_components[slot], 1, __ATOMIC_RELAXED);
}

void count_failure(unsigned channel, uint32_t session) {
  struct tracewell_losses* page;
  if (channel >= TRACEWELL_HOOK_CHANNELS) {
    count_failure_of(channel - TRACEWELL_HOOK_CHANNELS);
    return;
  }
  if (g_failures) __atomic_fetch_add(&g_failures->lost[channel], 1, __ATOMIC_RELEASE);
  page = own_page();
  if (page) count_own(&page->lost[channel], session);
}
