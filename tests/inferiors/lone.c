// lone: one thread, whose turns go down through eight calls and come back with a sum. `turns`
// counts them, `wrong` those with another sum. `wanted` has it do something else between two turns;
// as long as it is 4, nearly all time is spent in the one instruction at `counting`.
// build: -O0 -g
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kDepth = 8 };
volatile unsigned long turns, wrong, signals, forks;
volatile int wanted;
volatile unsigned long word;

unsigned long down(unsigned long turn, unsigned long depth) {
  volatile unsigned long kept = turn * depth;
  if (depth != 0) kept = kept + down(turn, depth - 1);
  return kept;
}

static void on_signal(int number) { signals = signals + (number == SIGUSR1); }

__attribute__((noinline)) void fork_one(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  forks = forks + 1;
}

static void count_down(void) {
  unsigned long left = 1 << 20;
  __asm__ volatile(".globl counting\ncounting:\n  loop counting" : "+c"(left));
}

int main(int count, char** words) {
  signal(SIGUSR1, on_signal);
  for (;; turns = turns + 1) {
    if (down(turns, kDepth) != turns * (kDepth * (kDepth + 1) / 2)) wrong = wrong + 1;
    const int what = wanted;
    if (what == 0) continue;
    if (what == 4) {
      count_down();
      continue;
    }
    wanted = 0;
    if (what == 1) fork_one();
    if (what == 2) execv("/proc/self/exe", words);
    if (what == 3) return 3;
  }
  return count;
}
