// Ends in the way that its argument says.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int counter;

__attribute__((noinline)) int marker(int value) {
  counter += value;
  return counter;
}

/// Has the first thread ended? Its state stands behind its name, in brackets.
static int leader_has_ended(void) {
  char stat[256], path[64];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, stat, sizeof stat - 1);
  close(file);
  stat[size > 0 ? size : 0] = '\0';
  const char* name_end = strrchr(stat, ')');
  return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'Z';
}

static void* late(void* code) {
  while (!leader_has_ended()) usleep(1000);
  marker(1);
  exit((int)(long)code);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "exit";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  for (int i = 0; i < 3; ++i) marker(i);
  if (strcmp(how, "kill") == 0) raise(number);
  if (strcmp(how, "leader") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, late, (void*)(long)number);
    pthread_exit(NULL);
  }
  if (strcmp(how, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(how, "trap") == 0) __asm__ volatile("int3");
  if (strcmp(how, "sleep") == 0)
    for (;;) usleep(1000);
  return number;
}
