// A process that stays in the middle of exec, until it is killed: a file that is closed on exec is
// in a file system that does not answer when one is closed. The kernel lets nobody compare its
// memory meanwhile, or read when it began.
//
//   stays_in_exec FOLDER
// Prints the process's id once it is there, and waits for the end of standard input. FOLDER is
// empty; nobody else sees what is mounted there. 77: no such file systems may be mounted here.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kSkipped = 77, kRootNode = 1, kFileNode = 2, kForLong = 1000 };

static char request[1 << 16];

static int mounted(const char* folder) {
  char options[80];
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0 || unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    return -1;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device,
           getuid(), getgid());
  return mount("stays", folder, "fuse", MS_NOSUID | MS_NODEV, options) == 0 ? device : -1;
}

static struct fuse_attr node(uint64_t number) {
  struct fuse_attr out = {.ino = number, .nlink = 1};
  out.mode = number == kRootNode ? S_IFDIR | 0755 : S_IFREG | 0644;
  return out;
}

/* 1: a file was closed, which is not answered. */
static int answer(int device) {
  const struct fuse_in_header* const asked = (const struct fuse_in_header*)request;
  struct {
    struct fuse_out_header head;
    union {
      struct fuse_init_out init;
      struct fuse_entry_out entry;
      struct fuse_attr_out attr;
      struct fuse_open_out open;
    } body;
  } reply;
  size_t body = 0;
  if (read(device, request, sizeof request) <= 0) return 0;
  memset(&reply, 0, sizeof reply);
  reply.head.unique = asked->unique;
  switch (asked->opcode) {
    case FUSE_INIT:
      body = sizeof reply.body.init;
      reply.body.init.major = FUSE_KERNEL_VERSION;
      reply.body.init.minor = FUSE_KERNEL_MINOR_VERSION;
      reply.body.init.max_write = 4096;
      break;
    case FUSE_LOOKUP:
      body = sizeof reply.body.entry;
      reply.body.entry.nodeid = kFileNode;
      reply.body.entry.attr = node(kFileNode);
      break;
    case FUSE_GETATTR:
      body = sizeof reply.body.attr;
      reply.body.attr.attr = node(asked->nodeid);
      break;
    case FUSE_OPEN: body = sizeof reply.body.open; break;
    case FUSE_FLUSH: return 1;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return 0;
    default: reply.head.error = -ENOSYS;
  }
  reply.head.len = (uint32_t)(sizeof reply.head + body);
  return write(device, &reply, reply.head.len) < 0;
}

static void begin_exec(const char* folder) {
  char path[4096];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  snprintf(path, sizeof path, "%s/file", folder);
  if (open(path, O_RDONLY | O_CLOEXEC) >= 0) execl("/proc/self/exe", "stays_in_exec", NULL);
  _exit(1);
}

int main(int argc, char** argv) {
  if (argc < 2) return kSkipped;
  const int device = mounted(argv[1]);
  if (device < 0) return kSkipped;
  const pid_t child = fork();
  if (child == 0) begin_exec(argv[1]);
  struct pollfd ends[] = {{device, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  while (poll(ends, 2, kForLong * 1000) > 0 && ends[1].revents == 0) {
    if (!answer(device)) continue;
    printf("%d\n", child);
    fflush(stdout);
  }
  kill(child, SIGKILL);
  return 0;
}
