/* The load of bench_serve's figures of processor time: one connection that sends a request, waits
 * for the whole answer, and sends the next one when its time has come. So the service wakes once
 * for each request, whatever else runs, and so many times a second, as long as it is idle in
 * between.
 *
 *   paced_load PORT RATE < REQUEST      until it is killed; all answers are as long as the first */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kQuietMs = 500, kLateNs = 100000000 };

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

/* Up to `most` bytes; fewer where nothing more comes for so long. */
static long take(int fd, long most, int patience_ms) {
  static char bytes[1 << 16];
  struct pollfd one = {fd, POLLIN, 0};
  long got = 0;
  while (got < most && (got == 0 || patience_ms < 0 || poll(&one, 1, patience_ms) > 0)) {
    const long left = most - got < (long)sizeof bytes ? most - got : (long)sizeof bytes;
    const long now = read(fd, bytes, (size_t)left);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail("the service hangs up");
    got += now;
  }
  return got;
}

int main(int count, char** words) {
  if (count < 3) return 2;
  char request[4096];
  const size_t bytes = fread(request, 1, sizeof request, stdin);
  const long period = 1000000000L / atol(words[2]);
  const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, (struct sockaddr*)&there, sizeof there) != 0) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  long answer = 0;
  for (long next = now_ns();; next += period) {
    if (now_ns() - next > kLateNs) next = now_ns(); /* what was missed is not made up for */
    const struct timespec then = {next / 1000000000L, next % 1000000000L};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR) {
    }
    if (write(fd, request, bytes) != (long)bytes) fail("write");
    if (answer == 0) answer = take(fd, 1 << 30, kQuietMs);
    else take(fd, answer, -1);
  }
}
