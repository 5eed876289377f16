// Ends in the way that its argument says.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int counter;

__attribute__((noinline)) int marker(int value) {
  counter += value;
  return counter;
}

static void* late(void* code) {
  usleep(20000);
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
