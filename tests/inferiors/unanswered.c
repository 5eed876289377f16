// Maps a page of a file system of its own (FUSE) that never answers a read, and counts. To be run
// as root. Prints the page's address and the file system's device; a second process answers what is
// asked of the file system, until its standard input ends: then it answers nothing more, and the
// kernel does so for it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int device;

static void answer(const struct fuse_in_header *to, int error, const void *body, size_t size) {
  char buffer[sizeof(struct fuse_out_header) + 256];
  struct fuse_out_header head = {(unsigned)(sizeof head + size), -error, to->unique};
  memcpy(buffer, &head, sizeof head);
  memcpy(buffer + sizeof head, body, size);
  if (write(device, buffer, head.len) < 0 && errno != ENOENT) _exit(3);
}

static struct fuse_attr attributes(unsigned long inode) {
  struct fuse_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.ino = inode;
  attr.nlink = 1;
  attr.blksize = 4096;
  attr.size = inode == 1 ? 0 : 4096;
  attr.mode = inode == 1 ? S_IFDIR | 0755 : S_IFREG | 0644;
  return attr;
}

static void answer_one(const struct fuse_in_header *head) {
  struct fuse_init_out init = {.major = 7, .minor = 31, .max_readahead = 4096, .max_write = 4096};
  struct fuse_attr_out attr = {.attr_valid = 100, .attr = attributes(head->nodeid)};
  struct fuse_entry_out entry = {.nodeid = 2, .entry_valid = 100, .attr_valid = 100,
                                 .attr = attributes(2)};
  struct fuse_open_out opened = {.fh = 0};
  switch (head->opcode) {
    case FUSE_INIT: return answer(head, 0, &init, sizeof init);
    case FUSE_GETATTR: return answer(head, 0, &attr, sizeof attr);
    case FUSE_LOOKUP: return answer(head, 0, &entry, sizeof entry);
    case FUSE_OPEN: return answer(head, 0, &opened, sizeof opened);
    case FUSE_FLUSH:
    case FUSE_RELEASE: return answer(head, 0, "", 0);
    case FUSE_READ:
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;
    default: return answer(head, ENOSYS, "", 0);
  }
}

static void answers(void) {
  static char buffer[1 << 17];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    const ssize_t got = read(device, buffer, sizeof buffer);
    if (got < 0 && errno != EINTR && errno != ENOENT) _exit(0);
    if (got > 0) answer_one((const struct fuse_in_header *)buffer);
  }
}

int main(int argc, char **argv) {
  char options[64], path[4096];
  if (argc < 2 || unshare(CLONE_NEWNS) != 0) return 77;
  if (mount("", "/", 0, MS_REC | MS_PRIVATE, 0) != 0) return 77;
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return 77;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (mount("unanswered", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) return 77;
  const pid_t answering = fork();
  if (answering == 0) answers();
  close(device);
  snprintf(path, sizeof path, "%s/file", argv[1]);
  const int file = open(path, O_RDONLY);
  void *const page = file < 0 ? MAP_FAILED
                              : mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (page == MAP_FAILED) return 2;
  printf("%lx %d\n", (unsigned long)page, (int)answering);
  fflush(stdout);
  alarm(120);
  for (;;) pause();
}
