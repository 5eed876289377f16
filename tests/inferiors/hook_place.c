// Prints the folder of the control file that it has mapped; "none" where it has none.
// libs: -lrts
#include <stdio.h>
#include <string.h>
#include <sys/trchkid.h>

int main(void) {
  char line[4096];
  FILE* const maps = fopen("/proc/self/maps", "r");
  TRCHKL1(HKWD_USER1, 7);
  while (maps && fgets(line, sizeof line, maps)) {
    char* const end = strstr(line, "/hooks-");
    char* const begin = strchr(line, '/');
    if (!end || strncmp(end, "/hooks-2\n", 9) != 0) continue;
    *end = 0;
    puts(begin);
    return 0;
  }
  puts("none");
  return 0;
}
