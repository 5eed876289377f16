/* Which processes and threads a session is about (trace -A, -t, -P). */
#include "inproc/runtime.h"

#define GENERATIONS_MAX 64
#define STAT_BYTES 512

static int is_in(const uint32_t* list, uint32_t count, uint32_t one) {
  uint32_t i;
  if (count > TRACEWELL_CHOSEN_MAX) count = TRACEWELL_CHOSEN_MAX;
  for (i = 0; i < count; ++i)
    if (list[i] == one) return 1;
  return 0;
}

/* 0 = not known. /proc/PID/stat: the id, the name between brackets (which may have brackets and
 * blanks in it), the state, the parent. proc(5) */
static uint32_t parent_of(uint32_t process) {
  char path[32] = "/proc/";
  char text[STAT_BYTES];
  char* at = path + 6;
  uint32_t place = 1, parent = 0;
  long got;
  int fd;
  while (process / place >= 10) place *= 10;
  for (; place > 0; place /= 10) *at++ = (char)('0' + process / place % 10);
  *at++ = '/', *at++ = 's', *at++ = 't', *at++ = 'a', *at++ = 't', *at = 0;
  fd = open_file(AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return 0;
  got = call(SYS_read, fd, (long)text, STAT_BYTES, 0, 0, 0);
  close_file(fd);
  while (got > 0 && text[got - 1] != ')') --got;
  /* ") S 123" */
  if (got <= 0) return 0;
  for (got += 3; got < STAT_BYTES && text[got] >= '0' && text[got] <= '9'; ++got)
    parent = parent * 10 + (uint32_t)(text[got] - '0');
  return parent;
}

static int process_is_chosen(const struct tracewell_channel* channel) {
  uint32_t process = process_id();
  int generation;
  for (generation = 0; process != 0 && generation < GENERATIONS_MAX; ++generation) {
    if (is_in(channel->process, channel->processes, process)) return 1;
    if (!(channel->propagation & TRACEWELL_PROPAGATE_PROCESSES)) return 0;
    process = parent_of(process);
  }
  return 0;
}

int thread_is_chosen(const struct tracewell_channel* channel, uint32_t self) {
  uint32_t i;
  if (process_is_chosen(channel) || is_in(channel->thread, channel->threads, self)) return 1;
  if (channel->propagation & TRACEWELL_PROPAGATE_THREADS)
    for (i = 0; i < channel->threads && i < TRACEWELL_CHOSEN_MAX; ++i)
      if (thread_lives(process_id(), channel->thread[i])) return 1;
  return 0;
}
