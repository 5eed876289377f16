// forks_and_hits WHAT: one thread calls hit() again and again, another makes children that end at
// once: WHAT is fork or vfork, or nothing for none. Says its number first; ends with what it reads.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long hits;
__attribute__((noinline)) void hit(void) { ++hits; }

static void* hits_always(void* unused) {
  for (;;) {
    hit();
    usleep(100);
  }
  return unused;
}

static void* vforks(void* unused) {
  for (;;) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  return unused;
}

static void* forks(void* unused) {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  pthread_t one, other;
  char line[80];
  printf("%ld\n", (long)getpid());
  fflush(stdout);
  pthread_create(&one, NULL, hits_always, NULL);
  if (argc > 1) pthread_create(&other, NULL, strcmp(argv[1], "vfork") == 0 ? vforks : forks, NULL);
  while (fgets(line, sizeof line, stdin) != NULL) continue;
  return 0;
}
