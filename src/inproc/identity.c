/* Which process this is: drawn before its first ring is made.
 *
 * A program may have this library more than once, in itself and in libraries that it loads, and is
 * one process all the same. So the copies share a page for it, which one of them has mapped. Each
 * has a note in its ELF file that leads to its pointer to that page: the next one that is loaded
 * looks for such notes. A page is never unmapped, also where a copy is. */
#include <link.h>
#include <string.h>
#include <sys/random.h>

#include "inproc/runtime.h"

#define TEXT_BYTES 512
#define BOOT_DIGITS 16
#define START_FIELD 22 /* of /proc/PID/stat, from 1. proc(5) */

/* Bytes that were read; 0 = none. */
static long read_text(const char* path, char* text) {
  const int fd = open_file(AT_FDCWD, path, O_RDONLY, 0);
  long got;
  if (fd < 0) return 0;
  got = call(SYS_read, fd, (long)text, TEXT_BYTES, 0, 0, 0);
  close_file(fd);
  return got > 0 ? got : 0;
}

/* /proc/sys/kernel/random/boot_id: hexadecimal digits, and dashes between some. */
static uint64_t read_boot(void) {
  char text[TEXT_BYTES];
  const long got = read_text("/proc/sys/kernel/random/boot_id", text);
  uint64_t out = 0;
  int digits = 0;
  long at;
  for (at = 0; at < got && digits < BOOT_DIGITS; ++at) {
    const char c = text[at];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) continue;
    out = out << 4 | (uint64_t)digit;
    ++digits;
  }
  return digits == BOOT_DIGITS ? out : 0;
}

/* The second field is the program's name between brackets, and may have brackets and blanks. */
static uint64_t read_start(void) {
  char text[TEXT_BYTES];
  const long got = read_text("/proc/self/stat", text);
  uint64_t out = 0;
  int field = 2;
  long at = got;
  while (at > 0 && text[at - 1] != ')') --at;
  if (at == 0) return 0;
  for (; at < got && field < START_FIELD; ++at) field += text[at] == ' ';
  for (; at < got && text[at] >= '0' && text[at] <= '9'; ++at)
    out = out * 10 + (uint64_t)(text[at] - '0');
  return out;
}

/* Zero says that nothing was drawn. Where the kernel has no random numbers, time and place must
 * do. */
static uint32_t draw(const void* place) {
  uint32_t out = 0;
  if (call(SYS_getrandom, (long)&out, sizeof out, GRND_NONBLOCK, 0, 0, 0) != sizeof out)
    out = (uint32_t)tracewell_ticks() * 2654435761u ^ process_id() << 16 ^
          (uint32_t)(uintptr_t)place;
  return out ? out : 1;
}

void find_identity(struct identity* one) {
  int i;
  if (__atomic_load_n(&one->random[1], __ATOMIC_ACQUIRE) != 0) return;
  /* Whoever does this at the same time stores the same. */
  one->boot = read_boot();
  one->start = read_start();
  for (i = 0; i < 2; ++i) {
    uint32_t none = 0;
    __atomic_compare_exchange_n(&one->random[i], &none, draw(one), 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
  }
}

/* Section .note.tracewell.rts: name "tracewell", type 2; how far it is from the description to the
 * pointer. Type 1 is a hook's (hook_site.h). */
#define NOTE_NAME "tracewell"
#define NOTE_TYPE 2
HIDDEN struct identity* tracewell_shared_identity;
__asm__(
    ".pushsection .note.tracewell.rts,\"a\",@note\n"
    ".balign 4\n.4byte 992f-991f, 994f-993f, 2\n"
    "991: .asciz \"" NOTE_NAME "\"\n992: .balign 4\n"
    "993: .dc.a tracewell_shared_identity - 993b\n"
    "994: .balign 4\n.popsection");

/* The page of the copy that the note is of; NULL: it has none, or the note is another. */
static struct identity* page_in(const ElfW(Nhdr)* note) {
  const char* const name = (const char*)(note + 1);
  const char* const description = name + ((note->n_namesz + 3u) & ~3u);
  struct identity* page;
  intptr_t distance;
  if (note->n_type != NOTE_TYPE || note->n_namesz != sizeof NOTE_NAME ||
      note->n_descsz != sizeof distance || memcmp(name, NOTE_NAME, sizeof NOTE_NAME) != 0)
    return NULL;
  memcpy(&distance, description, sizeof distance);
  memcpy(&page, description + distance, sizeof page);
  return page;
}

static struct identity* page_in_notes(const char* at, const char* end) {
  while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr)* const note = (const void*)at;
    const uint64_t bytes = sizeof *note + (((uint64_t)note->n_namesz + 3u) & ~(uint64_t)3) +
                           (((uint64_t)note->n_descsz + 3u) & ~(uint64_t)3);
    struct identity* page;
    if (bytes > (uint64_t)(end - at)) return NULL;
    page = page_in(note);
    if (page) return page;
    at += bytes;
  }
  return NULL;
}

/* Are the notes in memory? Some tools leave them behind in the file. */
static int is_loaded(const struct dl_phdr_info* object, const ElfW(Phdr)* notes) {
  int i;
  for (i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const one = &object->dlpi_phdr[i];
    if (one->p_type == PT_LOAD && one->p_flags & PF_R && notes->p_vaddr >= one->p_vaddr &&
        notes->p_vaddr - one->p_vaddr <= one->p_filesz &&
        notes->p_memsz <= one->p_filesz - (notes->p_vaddr - one->p_vaddr))
      return 1;
  }
  return 0;
}

static int look_into(struct dl_phdr_info* object, size_t size, void* found) {
  int i;
  (void)size;
  for (i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const one = &object->dlpi_phdr[i];
    const char* const at = (const char*)(object->dlpi_addr + one->p_vaddr);
    struct identity* page;
    if (one->p_type != PT_NOTE || one->p_align > 4 || !is_loaded(object, one)) continue;
    page = page_in_notes(at, at + one->p_memsz);
    if (!page) continue;
    *(struct identity**)found = page;
    return 1;
  }
  return 0;
}

/* Before there are hooks, but in constructors that come first. Whoever loads us keeps others from
 * being loaded or removed meanwhile. */
__attribute__((constructor(101))) static void share_identity(void) {
  struct identity* page = NULL;
  dl_iterate_phdr(look_into, &page);
  if (!page) page = map_wiped(TRACEWELL_HOOK_PAGE);
  tracewell_shared_identity = page;
}
