/* Component trace: part of hook_layout.h. A folder of the name below in the control file's; in it
 * a file for each process with components, PID-RANDOM, of a page for each. PID-RANDOM.n: the folder
 * of component n's rings, .rings/…; PID-RANDOM.registered: what the process has registered;
 * `rules`, and a file of the user's, say what holds for components that come later. */
#ifndef TRACEWELL_HOOK_COMPONENTS_H
#define TRACEWELL_HOOK_COMPONENTS_H

#define TRACEWELL_COMPONENTS_NAME "components-2"
#define TRACEWELL_COMPONENTS_MAX 64
#define TRACEWELL_COMPONENT_COMMON 0u /* these two are there by themselves */
#define TRACEWELL_COMPONENT_RARE 1u
#define TRACEWELL_COMPONENT_LEVEL_MAX 9u
#define TRACEWELL_COMPONENT_NORMAL 3u
#define TRACEWELL_COMPONENT_USED 1u
#define TRACEWELL_MEMORY_OFF 0u
#define TRACEWELL_MEMORY_ON 1u
#define TRACEWELL_MEMORY_SUSPENDED 2u /* there are buffers, and nothing goes there */

/* A file of this name in the component's folder, where a command has changed the size of its
 * buffers: what its threads' rings are made with from then on. */
#define TRACEWELL_SHAPE_NAME "shape"
struct tracewell_shape {
  uint32_t packet_bytes;
  uint32_t slots;
};

struct tracewell_component {
  uint32_t used;         /* TRACEWELL_COMPONENT_USED; stored last */
  uint32_t slot;
  uint32_t pid;
  uint32_t limit;        /* 1 + the highest level that is kept anywhere; hooks look here first */
  uint32_t memory;       /* 1 + the highest level that is kept in buffers; 0 = none */
  uint32_t system;       /* the same, of the trace on channel 0 */
  uint32_t memory_level; /* what these are when they are on */
  uint32_t system_level;
  uint32_t memory_mode;  /* TRACEWELL_MEMORY_* */
  uint32_t system_mode;  /* 0 off, 1 on */
  uint32_t state;        /* of its buffers, as of a channel */
  uint32_t start;        /* of the process, the low bits of what proc(5) says; 0 = not known */
  tracewell_shared lost; /* records of threads that could not make a ring */
  uint64_t buffer_bytes; /* of a ring */
  char name[128];        /* parts with dots between them */
  char alias[64];
  char type[64];         /* TYPE or TYPE_SUBTYPE */
  struct tracewell_channel channel; /* the rings */
};

/* What is in the file of blocks, all may write to that the process has forked, also those that gave
 * up their rights. So what says which components there are stands in a file that is mapped while
 * the process registers one, or gives it back, and not longer. Programs of releases before have
 * none. */
#define TRACEWELL_REGISTERED_SUFFIX ".registered"
#define TRACEWELL_REGISTERED_MAGIC 0x6765526c6c655754ull /* "TWellReg" */
#define TRACEWELL_REGISTERED_NOT 0u
#define TRACEWELL_REGISTERED_SOON 1u /* it comes or goes: the block may say so yet, or not */
#define TRACEWELL_REGISTERED_DONE 2u
struct tracewell_registration {
  char name[128]; /* these as in the block */
  char alias[64];
  char type[64];
  uint8_t uuid[16]; /* of its rings */
  uint32_t state;   /* TRACEWELL_REGISTERED_* */
  uint32_t reserved;
};
struct tracewell_registered {
  tracewell_shared magic; /* stored last */
  uint64_t start;         /* of the process, as /proc/PID/stat has it; 0 = not known */
  struct tracewell_registration component[TRACEWELL_COMPONENTS_MAX]; /* by slot */
};

TRACEWELL_SIZE_IS(tracewell_registration, 280);
TRACEWELL_SIZE_IS(tracewell_registered, 16 + 280 * TRACEWELL_COMPONENTS_MAX);

#endif
