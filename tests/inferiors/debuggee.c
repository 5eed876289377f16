// Does what its first argument says, for tests that debug it.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int watched;
volatile int handled;
static char text[] = "a string to look at";
static pthread_barrier_t barrier;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
double vector[4] __attribute__((aligned(32))) = {1.5, 2.5, 3.5, 4.5};

__attribute__((noinline)) int inner(int value) {
  watched += value; /* inner */
  return watched * 2;
}

__attribute__((noinline)) int outer(int value) {
  int result = inner(value + 1);
  return result + 1; /* after inner */
}

static void on_signal(int number) { handled = number; /* handler */ }

static void* thread_main(void* argument) {
  pthread_barrier_wait(&barrier);
  pthread_mutex_lock(&one_at_a_time);
  inner((int)(long)argument);
  pthread_mutex_unlock(&one_at_a_time);
  pthread_barrier_wait(&barrier);
  return NULL;
}

static int threads(void) {
  pthread_t both[2];
  pthread_barrier_init(&barrier, NULL, 3);
  for (long i = 0; i < 2; ++i) pthread_create(&both[i], NULL, thread_main, (void*)(i * 100 + 100));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 2; ++i) pthread_join(both[i], NULL);
  return 0; /* both worked */
}

static int signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGURG, &action, NULL);
  raise(SIGUSR1);
  raise(SIGURG);
  *(volatile int*)0x10 = 1; /* crash */
  return 0;
}

__attribute__((noinline)) int child_work(int value) { return value + 1; /* child */ }

static int forks(void) {
  const pid_t child = fork();
  if (child == 0) _exit(child_work(4));
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) + 10; /* parent */
}

static int executes(const char* self, int by_vfork) {
  if (!by_vfork) execl(self, self, "exit", "4", (char*)NULL);
  const pid_t child = vfork();
  if (child == 0) {
    execl(self, self, "exit", "6", (char*)NULL);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) + 20;
}

__attribute__((noinline)) void turn(void) { ++watched; }

/// Says in a file that it runs, and goes on until it is stopped.
static int spins(const char* path) {
  FILE* file = fopen(path, "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  for (;;) {
    turn();
    usleep(1000);
  }
}

static int tells(int argc, char** argv) {
  char directory[4096];
  for (int i = 2; i < argc; ++i) printf("argument %s\n", argv[i]);
  printf("directory %s\n", getcwd(directory, sizeof directory));
  for (const char** name = (const char*[]){"TW_SET", "TW_KEPT", NULL}; *name; ++name)
    printf("%s %s\n", *name, getenv(*name) ? getenv(*name) : "(none)");
  fflush(stdout);
  return 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  __asm__ volatile("vmovapd %0, %%ymm5" : : "m"(vector) : "xmm5");
  outer(20); /* start */
  if (strcmp(how, "threads") == 0) return threads();
  if (strcmp(how, "signals") == 0) return signals();
  if (strcmp(how, "fork") == 0) return forks();
  if (strcmp(how, "exec") == 0) return executes(argv[0], 0);
  if (strcmp(how, "vfork") == 0) return executes(argv[0], 1);
  if (strcmp(how, "spin") == 0) return spins(argv[2]);
  if (strcmp(how, "tell") == 0) return tells(argc, argv);
  if (strcmp(how, "exit") == 0) return atoi(argv[2]);
  return (int)strlen(text);
}
