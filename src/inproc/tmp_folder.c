/* This user's folder in /tmp, where anybody may take any name that is free, and give it back, but
 * where nobody can take away what is this user's. docs/decisions/0008-trace-hooks.md has the rule;
 * src/hooks/control/tmp_folder.cc is the same for commands.
 *
 * One that is there is the place, and is never removed. Who finds none takes a turn: a folder of
 * their own, held with a lock that only this user's processes can take. Others' turns that are held
 * are waited for, by name; so one at a time looks once more, and makes the place. (That is the
 * algorithm with one bit of J. E. Burns and N. A. Lynch, "Bounds on shared memory for mutual
 * exclusion", 1993.) */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define NAME_BYTES 64
#define NAMES_TRIED 16
/* A turn takes less, unless its process is stopped just then. In milliseconds. */
#define WAIT_MAX 5000

struct one {
  char name[NAME_BYTES];
  int fd; /* < 0: there is none */
};

struct tmp {
  int held;
  char usual[NAME_BYTES]; /* what the place is called, where nobody else has that name */
  char turns[NAME_BYTES]; /* how their names begin */
  struct one place;
  struct one own; /* this process's turn */
  int waited;
};

static uint32_t random_number(void) {
  uint32_t out = tracewell_ticks() & 0xffffffffu;
  call(SYS_getrandom, (long)&out, sizeof out, 0, 0, 0, 0);
  return out;
}

static int is_closed(int fd) {
  struct stat about;
  return look_at(fd, &about) && (about.st_mode & 0077) == 0;
}

/* One that is this user's alone. */
static int hold_ours(int tmp, const char* name) {
  const int fd = hold_inside(tmp, name);
  if (fd < 0 || is_closed(fd)) return fd;
  close_file(fd);
  return -EACCES;
}

static int lock_now(int fd) { return (int)call(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0); }

/* Also where a child of this process has the descriptor. */
static void unlock_and_close(int fd) {
  call(SYS_flock, fd, LOCK_UN, 0, 0, 0, 0);
  close_file(fd);
}

static int begins(const char* name, const char* with) {
  return strncmp(name, with, strlen(with)) == 0;
}

/* The turn if it is held; -ENOENT: its process has ended, or does not have it yet, and makes
 * another one then. */
static int held_turn(int tmp, const char* name) {
  const int looked_at = hold_ours(tmp, name);
  int fd;
  if (looked_at < 0) return looked_at;
  /* Whatever has its name by now. */
  fd = open_file(looked_at, ".", O_RDONLY | O_DIRECTORY, 0);
  close_file(looked_at);
  if (fd < 0 || lock_now(fd) == -EAGAIN) return fd;
  remove_file(tmp, name, AT_REMOVEDIR);
  unlock_and_close(fd);
  return -ENOENT;
}

/* What is not this user's, or there no more, is none of ours. Of anything else that is wrong nobody
 * knows, so that nothing follows from it. */
static int is_none(int held) {
  return held == SOMEBODY_ELSES || held == -EACCES || held == -ENOENT;
}

/* The first by name is kept. 0, or what is wrong. */
static int keep_first(struct one* kept, const char* name, int held) {
  if (held < 0) return is_none(held) ? 0 : held;
  if (kept->fd >= 0) close_file(kept->fd);
  kept->fd = held;
  strcpy(kept->name, name);
  return 0;
}

static int is_later(const struct one* kept, const char* name) {
  return kept->fd >= 0 && strcmp(name, kept->name) > 0;
}

/* `other`: a turn that is held, and not this process's own. */
static int look_at_name(struct tmp* tmp, struct one* other, const char* name) {
  const size_t length = strlen(tmp->usual);
  if (strlen(name) >= NAME_BYTES) return 0;
  if (begins(name, tmp->usual) && (name[length] == '-' || name[length] == 0))
    return is_later(&tmp->place, name)
               ? 0
               : keep_first(&tmp->place, name, hold_ours(tmp->held, name));
  if (begins(name, tmp->turns) && strcmp(name, tmp->own.name) != 0)
    return is_later(other, name) ? 0 : keep_first(other, name, held_turn(tmp->held, name));
  return 0;
}

/* 0, or what is wrong: all names were seen that were there all the time. */
static int look_around(struct tmp* tmp, struct one* other) {
  const int before = errno;
  const int again = open_file(tmp->held, ".", O_RDONLY | O_DIRECTORY, 0);
  DIR* const folder = again < 0 ? NULL : fdopendir(again);
  const struct dirent* entry;
  int wrong = again < 0 ? again : folder ? 0 : -ENOMEM;
  other->fd = -1;
  while (wrong == 0) {
    errno = 0;
    entry = readdir(folder);
    if (!entry) {
      wrong = -errno;
      break;
    }
    /* Others may give many files and links such names; to look at each takes long. */
    if (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
      wrong = look_at_name(tmp, other, entry->d_name);
  }
  if (folder) closedir(folder);
  else if (again >= 0) close_file(again);
  errno = before;
  return wrong;
}

/* It loses its name first, so that nobody takes it for one that was left. */
static void end_turn(struct tmp* tmp) {
  if (tmp->own.fd < 0) return;
  remove_file(tmp->held, tmp->own.name, AT_REMOVEDIR);
  unlock_and_close(tmp->own.fd);
  tmp->own.fd = -1;
}

static int is_named(int tmp, const char* name, int fd) {
  const int held = hold_inside(tmp, name);
  struct stat one;
  struct stat other;
  const int is_same = held >= 0 && look_at(held, &one) && look_at(fd, &other) &&
                      one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  if (held >= 0) close_file(held);
  return is_same;
}

/* Whoever looks around from now on sees it, held: it had its name before, and has it still. 0, or
 * what is wrong; -EAGAIN: others were at it. */
static int begin_turn(struct tmp* tmp) {
  int fd;
  int wrong;
  snprintf(tmp->own.name, NAME_BYTES, "%s%u", tmp->turns, random_number());
  wrong = make_folder(tmp->held, tmp->own.name);
  if (wrong != 0) return wrong == -EEXIST ? -EAGAIN : wrong;
  fd = open_file(tmp->held, tmp->own.name, O_RDONLY | O_DIRECTORY, 0);
  if (fd == -ENOENT) return -EAGAIN;
  wrong = fd < 0 ? fd : lock_now(fd);
  if (wrong == 0 && is_named(tmp->held, tmp->own.name, fd)) {
    tmp->own.fd = fd;
    return 0;
  }
  if (fd >= 0) close_file(fd);
  remove_file(tmp->held, tmp->own.name, AT_REMOVEDIR);
  return wrong == 0 ? -EAGAIN : wrong;
}

static int wait_a_little(struct tmp* tmp) {
  if (++tmp->waited > WAIT_MAX) return -EAGAIN;
  call(SYS_poll, 0, 0, 1, 0, 0, 0);
  return 0;
}

/* Until its process has ended its turn. 0, or what is wrong. */
static int wait_for_turn(struct tmp* tmp, int fd) {
  int wrong;
  while ((wrong = lock_now(fd)) == -EAGAIN)
    if (wait_a_little(tmp) != 0) return -EAGAIN;
  if (wrong == 0) call(SYS_flock, fd, LOCK_UN, 0, 0, 0, 0);
  return wrong;
}

/* No other process of this user's does so. Anybody may have the usual name. */
static int make_place(struct tmp* tmp) {
  int tries;
  int wrong = make_folder(tmp->held, tmp->usual);
  strcpy(tmp->place.name, tmp->usual);
  for (tries = 0; wrong == -EEXIST && tries < NAMES_TRIED; ++tries) {
    snprintf(tmp->place.name, NAME_BYTES, "%s-%u", tmp->usual, random_number());
    wrong = make_folder(tmp->held, tmp->place.name);
  }
  if (wrong == 0) tmp->place.fd = hold_ours(tmp->held, tmp->place.name);
  return wrong != 0 ? wrong : tmp->place.fd < 0 ? tmp->place.fd : 0;
}

/* What comes next where there was no place, and another's turn may be held. */
static int go_on(struct tmp* tmp, const struct one* other) {
  int wrong;
  if (other->fd >= 0) {
    /* Of two that wait for each other, one gives way. */
    if (tmp->own.fd >= 0 && strcmp(other->name, tmp->own.name) < 0) end_turn(tmp);
    return wait_for_turn(tmp, other->fd);
  }
  wrong = begin_turn(tmp);
  return wrong == -EAGAIN ? wait_a_little(tmp) : wrong;
}

/* 0, or what is wrong. */
static int find_place(struct tmp* tmp) {
  int alone = 0;
  for (;;) {
    struct one other;
    int wrong = look_around(tmp, &other);
    if (wrong == 0 && tmp->place.fd < 0) {
      if (alone) {
        wrong = make_place(tmp);
      } else if (tmp->own.fd >= 0 && other.fd < 0) {
        /* Who had their turn before may have made it after its name was looked for. */
        alone = 1;
      } else {
        wrong = go_on(tmp, &other);
      }
    }
    if (other.fd >= 0) close_file(other.fd);
    if (wrong != 0 || tmp->place.fd >= 0) return wrong;
  }
}

int hold_in_tmp(char* name, size_t size) {
  struct tmp tmp = {-1, "", "", {"", -1}, {"", -1}, 0};
  char walked[PATH_MAX] = "/tmp";
  int wrong = 0;
  tmp.held = hold_folder(walked, sizeof walked);
  *name = 0;
  if (tmp.held < 0) return tmp.held;
  snprintf(tmp.usual, NAME_BYTES, "tracewell-%u", geteuid());
  snprintf(tmp.turns, NAME_BYTES, ".tracewell-%u-", geteuid());
  keep_first(&tmp.place, tmp.usual, hold_ours(tmp.held, tmp.usual));
  if (tmp.place.fd < 0) wrong = find_place(&tmp);
  end_turn(&tmp);
  close_file(tmp.held);
  snprintf(name, size, "%s", tmp.place.name);
  if (wrong != 0 && tmp.place.fd >= 0) close_file(tmp.place.fd);
  return wrong != 0 ? wrong : tmp.place.fd;
}
