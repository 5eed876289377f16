// A program of root's that loads trace hooks while it acts for another user.
// libs: -ldl
//
//   acts_for_user LIBRARY
// 0: nothing of that user's is mapped for them. 77: it may not act for others, or they may not read
// the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kOther = 61234, kSkipped = 77 };

int main(int argc, char** argv) {
  char line[4096];
  int seen = 0;
  if (argc < 2 || geteuid() != 0 || seteuid(kOther) != 0) return kSkipped;
  if (eaccess(argv[1], R_OK) != 0) return kSkipped;
  if (!dlopen(argv[1], RTLD_NOW)) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) seen |= strstr(line, "/tracewell-61234/") != NULL;
  return !maps || seen;
}
