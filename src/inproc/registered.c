/* The file that says which components a process has (hook_components.h). It is mapped while it is
 * written, which no limit of the size of files stops; meanwhile the process is not forked, and what
 * it forks has no memory that says it. */
#include <string.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define NAME_BYTES 48 /* two numbers, and the suffix */
#define BYTES sizeof(struct tracewell_registered)

static void name_file(char* name, const char* process) {
  const size_t length = strnlen(process, NAME_BYTES - sizeof TRACEWELL_REGISTERED_SUFFIX);
  memcpy(name, process, length);
  memcpy(name + length, TRACEWELL_REGISTERED_SUFFIX, sizeof TRACEWELL_REGISTERED_SUFFIX);
}

static struct tracewell_registered* map_file(int fd) {
  struct tracewell_registered* const all =
      map(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  /* By the system call itself, too. */
  if (all) call(SYS_madvise, (long)all, BYTES, MADV_DONTFORK, 0, 0, 0);
  return all;
}

struct tracewell_registered* make_registered(int folder, const char* process, uint64_t start) {
  struct tracewell_registered* all = NULL;
  char name[NAME_BYTES];
  int fd;
  name_file(name, process);
  fd = open_file(folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) return NULL;
  if (allocate_file(fd, BYTES) == 0) all = map_file(fd);
  close_file(fd);
  if (!all) {
    remove_file(folder, name, 0);
    return NULL;
  }
  all->start = start;
  __atomic_store_n(&all->magic, TRACEWELL_REGISTERED_MAGIC, __ATOMIC_RELEASE);
  return all;
}

struct tracewell_registered* map_registered(int folder, const char* process) {
  struct tracewell_registered* all = NULL;
  char name[NAME_BYTES];
  struct stat about;
  int fd;
  name_file(name, process);
  fd = open_file(folder, name, O_RDWR | O_NONBLOCK, 0);
  if (fd < 0) return NULL;
  if (look_at(fd, &about) && S_ISREG(about.st_mode) && about.st_size == (off_t)BYTES)
    all = map_file(fd);
  close_file(fd);
  return all;
}

void unmap_registered(struct tracewell_registered* all) { unmap(all, BYTES); }

void remove_registered(int folder, const char* process) {
  char name[NAME_BYTES];
  name_file(name, process);
  remove_file(folder, name, 0);
}

void set_registration(struct tracewell_registered* all, unsigned slot, uint32_t state) {
  __atomic_store_n(&all->component[slot].state, state, __ATOMIC_SEQ_CST);
}

void begin_registration(struct tracewell_registered* all, unsigned slot,
                        const struct tracewell_component* block) {
  struct tracewell_registration* const one = &all->component[slot];
  set_registration(all, slot, TRACEWELL_REGISTERED_SOON);
  memcpy(one->name, block->name, sizeof one->name);
  memcpy(one->alias, block->alias, sizeof one->alias);
  memcpy(one->type, block->type, sizeof one->type);
  memcpy(one->uuid, block->channel.uuid, sizeof one->uuid);
}
