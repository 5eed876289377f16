// becomes PROGRAM ARGUMENTS...: runs it in its place.
#include <unistd.h>

int counter;

__attribute__((noinline)) void marker(void) { ++counter; }

int main(int argc, char** argv) {
  marker();
  if (argc > 1) execv(argv[1], argv + 1);
  return 99;
}
