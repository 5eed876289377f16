// Calls look() for ever, which reads nothing by itself. Prints where a page is that others may
// read; with a byte from standard input the page goes, and after a thousand further calls a line
// says so.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096, kCalls = 1000 };

volatile long looks;

__attribute__((noinline)) void look(void) { looks = looks + 1; }

int main(void) {
  char byte;
  char* const page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  page[0] = 1;
  printf("%p\n", (void*)page);
  fflush(stdout);
  fcntl(0, F_SETFL, O_NONBLOCK);
  while (read(0, &byte, 1) != 1) {
    look();
    usleep(100);
  }
  munmap(page, kPage);
  for (int i = 0; i < kCalls; ++i) look();
  puts("it goes on");
  fflush(stdout);
  for (;;) {
    look();
    usleep(100);
  }
}
