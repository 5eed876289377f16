// Trace hooks in processes and threads whose ids are used again and again.
// libs: -lrts
//
//   hook_ids PROCESSES IDS COUNTS RINGS
// Root in a pid namespace of its own with few processes: each of PROCESSES is born with one of IDS
// ids. Some have threads, which take ids of the same ones; some fork once more; some are killed in
// the middle. Hook 0100 with the process's number, and how many it made before. COUNTS is a file of
// a struct count for each process, and one for each that those forked. Half-way it waits until the
// collector has removed the dead ones' rings from the folder RINGS.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/trchkid.h>
#include <sys/wait.h>
#include <tracewell/hook_layout.h>
#include <unistd.h>

#define HOOKS 40
#define FIRST_ID 300

struct count {
  uint64_t pid, begun, done;
};

static struct count* g_counts;
static int g_ids;

/// The next process or thread has this id, or, where somebody has it, one that is free behind it.
static void choose_id(unsigned number) {
  const int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
  char text[16];
  const int length = snprintf(text, sizeof text, "%u", FIRST_ID + number % (unsigned)g_ids);
  if (fd < 0 || write(fd, text, (size_t)length) != length) exit(3);
  close(fd);
}

static void* fire(void* number) {
  struct count* count = &g_counts[(uintptr_t)number];
  for (int i = 0; i < HOOKS; ++i) {
    const uint64_t one = __atomic_fetch_add(&count->begun, 1, __ATOMIC_RELAXED);
    TRCHKL2(HKWD_USER1, (uintptr_t)number, one);
    __atomic_fetch_add(&count->done, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void live(unsigned number, unsigned child) {
  pthread_t thread;
  g_counts[number].pid = (uint64_t)getpid();
  fire((void*)(uintptr_t)number);
  if (number % 3 == 0) {
    choose_id(number * 7 + 1);
    if (pthread_create(&thread, NULL, fire, (void*)(uintptr_t)number) == 0)
      pthread_join(thread, NULL);
  }
  if (child && number % 4 == 0) {
    choose_id(number * 5 + 2);
    const pid_t more = fork();
    if (more == 0) {
      live(child, 0);
      _exit(0);
    }
    waitpid(more, NULL, 0);
  }
  if (number % 5 == 0) {
    choose_id(number * 3 + 1);
    if (pthread_create(&thread, NULL, fire, (void*)(uintptr_t)number) == 0) raise(SIGKILL);
  }
}

/// Who is killed in the page fault of its first write to a ring leaves a file without a head, which
/// the collector keeps. A hole is not read: that would make it memory.
static int has_head(int folder, const char* name) {
  uint64_t magic = 0;
  const int fd = openat(folder, name, O_RDONLY);
  if (fd < 0) return 0;
  if (lseek(fd, 0, SEEK_DATA) == 0 && pread(fd, &magic, sizeof magic, 0) != sizeof magic) magic = 0;
  close(fd);
  return magic == TRACEWELL_RING_MAGIC;
}

static int rings_in(const char* path) {
  DIR* const folder = opendir(path);
  int count = 0;
  if (!folder) exit(3);
  for (const struct dirent* one; (one = readdir(folder)) != NULL;)
    count += one->d_name[0] != '.' && has_head(dirfd(folder), one->d_name);
  closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const unsigned processes = (unsigned)strtoul(argv[1], NULL, 10);
  const size_t bytes = 2 * (processes + 1) * sizeof(struct count);
  g_ids = atoi(argv[2]);
  const int fd = open(argv[3], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) return 3;
  g_counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (g_counts == MAP_FAILED) return 3;
  live(1, 0);
  for (unsigned number = 2; number <= processes; ++number) {
    choose_id(number);
    const pid_t child = fork();
    if (child == 0) {
      live(number, processes + number);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    if (number == processes / 2)
      while (rings_in(argv[4]) > 1) usleep(1000);  // 1: ours
  }
  return 0;
}
