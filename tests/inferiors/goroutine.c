// To a debugger, the work of Go's tools: it has the note that they leave.
// build: -O0
#include <unistd.h>

__asm__(
    ".pushsection .note.go.buildid, \"a\", @note\n"
    ".long 4, 4, 4\n.ascii \"Go\\0\\0\"\n.ascii \"none\"\n.popsection");

volatile long passed;

__attribute__((noinline)) void pass(long n) { passed = n; }

int main(void) {
  for (long n = 0; n < 10; ++n) pass(n);
  _exit(passed == 9 ? 0 : 1);
}
