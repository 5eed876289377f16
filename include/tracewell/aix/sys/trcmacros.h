/* Trace hooks under AIX's names; what they do is in tracewell/hooks.h. Link with -lrts. */
#ifndef TRACEWELL_AIX_SYS_TRCMACROS_H
#define TRACEWELL_AIX_SYS_TRCMACROS_H

#include "../../hooks.h"

/* TRCHKL0…5: a hook word and that many words, on channel 0. Here all entries have a time; those of
 * the macros with a T also say that it was asked for. */
#define TRCHKL0(word)                                                                             \
  TRACEWELL_HOOK0("TRCHKL0", 0, 0, word)
#define TRCHKL1(word, d1)                                                                         \
  TRACEWELL_HOOK1("TRCHKL1", 0, 0, word, d1)
#define TRCHKL2(word, d1, d2)                                                                     \
  TRACEWELL_HOOK2("TRCHKL2", 0, 0, word, d1, d2)
#define TRCHKL3(word, d1, d2, d3)                                                                 \
  TRACEWELL_HOOK3("TRCHKL3", 0, 0, word, d1, d2, d3)
#define TRCHKL4(word, d1, d2, d3, d4)                                                             \
  TRACEWELL_HOOK4("TRCHKL4", 0, 0, word, d1, d2, d3, d4)
#define TRCHKL5(word, d1, d2, d3, d4, d5)                                                         \
  TRACEWELL_HOOK5("TRCHKL5", 0, 0, word, d1, d2, d3, d4, d5)
#define TRCHKL0T(word)                                                                            \
  TRACEWELL_HOOK0("TRCHKL0T", 0, TRACEWELL_RECORD_TIMED, word)
#define TRCHKL1T(word, d1)                                                                        \
  TRACEWELL_HOOK1("TRCHKL1T", 0, TRACEWELL_RECORD_TIMED, word, d1)
#define TRCHKL2T(word, d1, d2)                                                                    \
  TRACEWELL_HOOK2("TRCHKL2T", 0, TRACEWELL_RECORD_TIMED, word, d1, d2)
#define TRCHKL3T(word, d1, d2, d3)                                                                \
  TRACEWELL_HOOK3("TRCHKL3T", 0, TRACEWELL_RECORD_TIMED, word, d1, d2, d3)
#define TRCHKL4T(word, d1, d2, d3, d4)                                                            \
  TRACEWELL_HOOK4("TRCHKL4T", 0, TRACEWELL_RECORD_TIMED, word, d1, d2, d3, d4)
#define TRCHKL5T(word, d1, d2, d3, d4, d5)                                                        \
  TRACEWELL_HOOK5("TRCHKL5T", 0, TRACEWELL_RECORD_TIMED, word, d1, d2, d3, d4, d5)

/* A word and `length` bytes, on channel 0 to 7; at most 4096 of the bytes are kept. */
#define TRCGEN(channel, word, d1, length, bytes)                                                  \
  TRACEWELL_HOOK_DATA("TRCGEN", channel, 0, word, d1, length, bytes)
#define TRCGENT(channel, word, d1, length, bytes)                                                 \
  TRACEWELL_HOOK_DATA("TRCGENT", channel, TRACEWELL_RECORD_TIMED, word, d1, length, bytes)

#ifdef __cplusplus
extern "C" {
#endif

/* The same as functions; a record of five words each. */
void utrchook(unsigned int word, unsigned long d1, unsigned long d2, unsigned long d3,
              unsigned long d4, unsigned long d5);
void trchook(unsigned int word, unsigned long d1, unsigned long d2, unsigned long d3,
             unsigned long d4, unsigned long d5);
void trcgen(unsigned int channel, unsigned int word, unsigned long d1, unsigned int length,
            char* bytes);
void trcgent(unsigned int channel, unsigned int word, unsigned long d1, unsigned int length,
             char* bytes);

#ifdef __cplusplus
}
#endif

#endif
