/* Hooks that are lost without a ring, and what is known of a channel's collector: part of
 * hook_layout.h.
 *
 * All programs of a user add to struct tracewell_failures. One that gives up its rights, and what
 * it forks, still have that page mapped, and may write what they like there: it proves nothing. So
 * a program that may do so (of root's) counts its own once more in a page that nobody else has, but
 * for what it forks: a file PID-RANDOM in a folder of the name below, in the control file's, made
 * when it is loaded while a trace runs, or at its first hook. */
#ifndef TRACEWELL_HOOK_LOSSES_H
#define TRACEWELL_HOOK_LOSSES_H

/* FAILURES_NAME-INODE, of the control file in hexadecimal: a file of one page in the same folder,
 * where programs count. They have nothing else of these files mapped to write to: a process that
 * gave up its rights could turn any page of a file that it may write to into another
 * (remap_file_pages). Programs of releases before count in the control file. */
#define TRACEWELL_FAILURES_NAME "failures"

#define TRACEWELL_LOSSES_NAME "losses-1"
#define TRACEWELL_LOSSES_MAGIC 0x7373736f6c577754ull /* "TwWlosss" */
#define TRACEWELL_LOSSES_SESSION_SHIFT 40

struct tracewell_losses {
  tracewell_shared magic; /* stored last */
  uint32_t pid;
  uint32_t reserved;
  uint64_t start;   /* of the process, as /proc/PID/stat has it; 0 = not known */
  uint64_t control; /* inode of the control file: sessions of another one have the same numbers */
  /* session << 40 | hooks: one word, so that those of a session before do not count. */
  tracewell_shared lost[TRACEWELL_HOOK_CHANNELS];
  /* Of its components, by slot, since they are there. Zeros: of a release before. */
  tracewell_shared of_components[TRACEWELL_COMPONENTS_MAX];
};

/* In the page of a channel, behind struct tracewell_channel: by its collector and by commands.
 * Programs cannot write to it. */
#define TRACEWELL_CHANNEL_WATCH 3584u
struct tracewell_watch {
  uint32_t session;   /* of the channel; another one: a release before began the session */
  uint32_t collected; /* these two as in struct tracewell_failures, which has them as well */
  char why[TRACEWELL_WHY_BYTES];
  uint32_t changed; /* 1: that page was seen to lose counts */
  uint32_t reserved;
  uint64_t lost; /* the most that stood there */
  uint64_t dropped; /* records that the log has dropped, and no mark tells of */
};

TRACEWELL_SIZE_IS(tracewell_losses,
                  32 + 8 * (TRACEWELL_HOOK_CHANNELS + TRACEWELL_COMPONENTS_MAX));
TRACEWELL_SIZE_IS(tracewell_watch, 32 + TRACEWELL_WHY_BYTES);

#endif
