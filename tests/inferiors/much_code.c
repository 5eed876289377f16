// Has more code than anybody writes. argv[1]: what of it; argv[2]: how much. It calls a function
// at its beginning again and again. A line on standard output says where that is.
//   empty  so many MiB, of which all but the function is a hole of the file
//   maps   so many mappings of a MiB of a file without a system call, in front of all others, and
//          no vdso
#define _GNU_SOURCE
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMiB = 1 << 20, kFunctionAt = 4096 };

static uint8_t *const kFirst = (uint8_t *)0x10000000;
// lea 0x1234(%rdi), %rax; add $0x11223344, %rax; mov %rax, %rcx; lea 8(%rcx), %rdx; ret
static const uint8_t kFunction[] = {0x48, 0x8d, 0x87, 0x34, 0x12, 0,    0,
                                    0x48, 0x05, 0x44, 0x33, 0x22, 0x11, 0x48,
                                    0x89, 0xc1, 0x48, 0x8d, 0x51, 0x08, 0xc3};

static int map_code(int file, uint8_t *at, uint64_t bytes) {
  return mmap(at, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0) == at;
}

static void unmap_vdso(void) {
  char line[512];
  unsigned long start = 0, end = 0;
  FILE *const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "[vdso]") != NULL) sscanf(line, "%lx-%lx", &start, &end);
  if (maps != NULL) fclose(maps);
  munmap((void *)start, end - start);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const int is_empty = strcmp(argv[1], "empty") == 0;
  const uint64_t many = strtoul(argv[2], NULL, 10);
  const uint64_t bytes = is_empty ? many * kMiB : kMiB;
  const int file = memfd_create("code", 0);
  if (ftruncate(file, (off_t)bytes) != 0) return 2;
  if (!is_empty) {
    uint8_t *const other = malloc(kMiB);
    memset(other, 0x0f, kMiB);
    if (pwrite(file, other, kMiB, 0) != kMiB) return 2;
  }
  const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = bytes,
                              .p_vaddr = (uintptr_t)kFirst, .p_memsz = bytes};
  const Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                           .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
                           .e_phoff = sizeof head, .e_ehsize = sizeof head,
                           .e_phentsize = sizeof segment, .e_phnum = 1};
  if (pwrite(file, &head, sizeof head, 0) != (ssize_t)sizeof head) return 2;
  if (pwrite(file, &segment, sizeof segment, sizeof head) != (ssize_t)sizeof segment) return 2;
  if (pwrite(file, kFunction, sizeof kFunction, kFunctionAt) != (ssize_t)sizeof kFunction) return 2;
  for (uint64_t i = 0; i < (is_empty ? 1 : many); ++i)
    if (!map_code(file, kFirst + i * kMiB, bytes)) return 2;
  if (!is_empty) unmap_vdso();
  printf("%lx\n", (unsigned long)(kFirst + kFunctionAt));
  fflush(stdout);
  void (*const function)(long) = (void (*)(long))(kFirst + kFunctionAt);
  for (;;) {
    function(3);
    usleep(1000);
  }
}
