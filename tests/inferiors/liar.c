// Lies about its libraries. argv[1]: what about; argv[2]: a file.
//   many     65 536 more, all of that name and nowhere in memory, then as many at one place
//   symbols  65 000 more, each with one hash table of symbols that has no end
//   names    some more in one place, with names that XML cannot hold or has to spell otherwise, or
//            that lead to no file; and one that is nowhere in memory
// build: -D_GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMany = 65536, kPage = 4096 };

static struct link_map *last;

static void add(char *name, void *dynamic) {
  struct link_map *const one = calloc(1, sizeof *one);
  one->l_name = name;
  one->l_ld = dynamic;
  last->l_next = one;
  last = one;
}

__attribute__((noinline)) void lied(void) { write(1, "lied\n", 5); }

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const int file = open(argv[2], O_RDONLY);
  char *const here = mmap(NULL, 16 * kPage, PROT_READ, MAP_PRIVATE, file, 0);
  if (here == MAP_FAILED) return 2;
  for (last = _r_debug.r_map; last->l_next != NULL;) last = last->l_next;
  if (strcmp(argv[1], "many") == 0) {
    for (long i = 0; i < kMany / 2; ++i) add(argv[2], (void *)(kPage * i));
    for (long i = 0; i < kMany / 2; ++i) add(argv[2], here + i);
  } else if (strcmp(argv[1], "symbols") == 0) {
    static uint32_t hash[5 + kMany] = {1, 1, 0, 0, 1};  // one bucket, no filter
    static ElfW(Sym) symbols[4];
    ElfW(Dyn) dynamic[] = {{DT_SYMTAB, {(ElfW(Addr))symbols}},
                           {DT_STRTAB, {(ElfW(Addr))argv[2]}},
                           {DT_GNU_HASH, {(ElfW(Addr))hash}},
                           {DT_NULL, {0}}};
    for (long i = 0; i < kMany; ++i) hash[5 + i] = 2;  // an even one is not the last
    // Ahead of the C library.
    struct link_map *const rest = _r_debug.r_map->l_next;
    last = _r_debug.r_map;
    for (long i = 0; i < 65000; ++i) add(argv[2], dynamic);
    last->l_next = rest;
    lied();
    for (;;) pause();  // what was made here is read now
  } else {
    add("/a\x01\x1b[31m\x7f.so", here);
    add("/latin\xe9.so", here);
    add("/<&\"'>.so", here);
    add("/line\nend\ttab.so", here);
    add("/gr\xc3\xbc\xc3\x9f.so", here);
    add("/dev/zero", here);
    add("/proc/self/maps", here);
    add("/nowhere.so", (void *)8);
    add("/usr/share/../trusted.so", here);
    add("/usr/./trusted.so", here);
    add("in/trusted.so", here);
  }
  lied();
  for (;;) pause();
}
