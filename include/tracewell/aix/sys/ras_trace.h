/* Component trace, under AIX's names: hooks that belong to a part of a program, which operators
 * switch on and off by that part's name (ctctrl). Link with -lrts.
 *
 *   static ras_block_t net;
 *   net = tracewell_component_register("server.net", "net", "network");
 *   CT_HOOK2(net, 3, MT_PRIV | MT_SYSTEM, HKWD_USER1, fd, size);
 *
 * Off, such a hook is a load and a branch; its words are not evaluated then. All entries have a
 * time. Registration has names of our own. */
#ifndef TRACEWELL_AIX_SYS_RAS_TRACE_H
#define TRACEWELL_AIX_SYS_RAS_TRACE_H

#include "trcmacros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tracewell_component* ras_block_t;
#define RAS_BLOCK_NULL ((ras_block_t)0) /* its hooks do nothing */

/* Where an entry goes: to buffers of the component, to those that all components of the process
 * share (for what is frequent, or rare), to the trace on channel 0. */
#define MT_PRIV 1u
#define MT_COMMON 2u
#define MT_RARE 4u
#define MT_SYSTEM 8u

/* `name`: parts with dots between them, "server.net.tcp"; 127 characters at most. `alias` and
 * `type` (TYPE or TYPE_SUBTYPE) may be NULL. RAS_BLOCK_NULL: a name is bad, or there can be none,
 * as while real, effective and saved user are not the same.
 * Not for signal handlers. What ctctrl -p and -P have said holds from here on. */
ras_block_t tracewell_component_register(const char* name, const char* alias, const char* type);
/* No thread may use it any more. What its buffers hold is gone. */
void tracewell_component_unregister(ras_block_t component);

/* What the macros call. `level` is 0 to 9, and was less than the component's limit. */
void tracewell_component_hook(ras_block_t component, unsigned level, unsigned destination,
                              unsigned int word, unsigned count, unsigned long d1,
                              unsigned long d2, unsigned long d3, unsigned long d4,
                              unsigned long d5);
void tracewell_component_data(ras_block_t component, unsigned level, unsigned destination,
                              unsigned int word, unsigned long d1, unsigned long length,
                              const void* bytes);

#ifdef __cplusplus
}
#endif

/* A load also where the component is known: operators change it. */
#define TRACEWELL_CT(cb, level, call)                                                             \
  do {                                                                                            \
    const ras_block_t tracewell_cb_ = (cb);                                                       \
    const unsigned tracewell_level_ = (unsigned)(level);                                          \
    if (tracewell_cb_ != RAS_BLOCK_NULL &&                                                        \
        __builtin_expect(                                                                         \
            tracewell_level_ < __atomic_load_n(&tracewell_cb_->limit, __ATOMIC_RELAXED), 0))      \
      call;                                                                                       \
  } while (0)
#define TRACEWELL_CT_HOOK(cb, level, dest, word, count, a, b, c, d, e)                            \
  TRACEWELL_CT(cb, level,                                                                         \
               tracewell_component_hook(tracewell_cb_, tracewell_level_, (dest),                  \
                                        (unsigned int)(word), (count), TRACEWELL_WORD(a),         \
                                        TRACEWELL_WORD(b), TRACEWELL_WORD(c), TRACEWELL_WORD(d),  \
                                        TRACEWELL_WORD(e)))
#define TRACEWELL_CT_DATA(cb, level, dest, word, d1, length, bytes)                               \
  TRACEWELL_CT(cb, level,                                                                         \
               tracewell_component_data(tracewell_cb_, tracewell_level_, (dest),                  \
                                        (unsigned int)(word), TRACEWELL_WORD(d1),                 \
                                        (unsigned long)(length), (bytes)))

#define CT_HOOK0(cb, level, dest, word) \
  TRACEWELL_CT_HOOK(cb, level, dest, word, 0, 0, 0, 0, 0, 0)
#define CT_HOOK1(cb, level, dest, word, a) \
  TRACEWELL_CT_HOOK(cb, level, dest, word, 1, a, 0, 0, 0, 0)
#define CT_HOOK2(cb, level, dest, word, a, b) \
  TRACEWELL_CT_HOOK(cb, level, dest, word, 2, a, b, 0, 0, 0)
#define CT_HOOK3(cb, level, dest, word, a, b, c) \
  TRACEWELL_CT_HOOK(cb, level, dest, word, 3, a, b, c, 0, 0)
#define CT_HOOK4(cb, level, dest, word, a, b, c, d) \
  TRACEWELL_CT_HOOK(cb, level, dest, word, 4, a, b, c, d, 0)
#define CT_HOOK5(cb, level, dest, word, a, b, c, d, e) \
  TRACEWELL_CT_HOOK(cb, level, dest, word, 5, a, b, c, d, e)
#define CT_GEN(cb, level, word, d1, length, bytes) \
  TRACEWELL_CT_DATA(cb, level, MT_PRIV | MT_SYSTEM, word, d1, length, bytes)

/* Those that go to one place. */
#define CT_HOOK0_PRIV(cb, level, word) CT_HOOK0(cb, level, MT_PRIV, word)
#define CT_HOOK1_PRIV(cb, level, word, a) CT_HOOK1(cb, level, MT_PRIV, word, a)
#define CT_HOOK2_PRIV(cb, level, word, a, b) CT_HOOK2(cb, level, MT_PRIV, word, a, b)
#define CT_HOOK3_PRIV(cb, level, word, a, b, c) CT_HOOK3(cb, level, MT_PRIV, word, a, b, c)
#define CT_HOOK4_PRIV(cb, level, word, a, b, c, d) CT_HOOK4(cb, level, MT_PRIV, word, a, b, c, d)
#define CT_HOOK5_PRIV(cb, level, word, a, b, c, d, e) \
  CT_HOOK5(cb, level, MT_PRIV, word, a, b, c, d, e)
#define CT_GEN_PRIV(cb, level, word, d1, length, bytes) \
  TRACEWELL_CT_DATA(cb, level, MT_PRIV, word, d1, length, bytes)
#define CT_HOOK0_COMMON(cb, level, word) CT_HOOK0(cb, level, MT_COMMON, word)
#define CT_HOOK1_COMMON(cb, level, word, a) CT_HOOK1(cb, level, MT_COMMON, word, a)
#define CT_HOOK2_COMMON(cb, level, word, a, b) CT_HOOK2(cb, level, MT_COMMON, word, a, b)
#define CT_HOOK3_COMMON(cb, level, word, a, b, c) CT_HOOK3(cb, level, MT_COMMON, word, a, b, c)
#define CT_HOOK4_COMMON(cb, level, word, a, b, c, d) \
  CT_HOOK4(cb, level, MT_COMMON, word, a, b, c, d)
#define CT_HOOK5_COMMON(cb, level, word, a, b, c, d, e) \
  CT_HOOK5(cb, level, MT_COMMON, word, a, b, c, d, e)
#define CT_GEN_COMMON(cb, level, word, d1, length, bytes) \
  TRACEWELL_CT_DATA(cb, level, MT_COMMON, word, d1, length, bytes)
#define CT_HOOK0_RARE(cb, level, word) CT_HOOK0(cb, level, MT_RARE, word)
#define CT_HOOK1_RARE(cb, level, word, a) CT_HOOK1(cb, level, MT_RARE, word, a)
#define CT_HOOK2_RARE(cb, level, word, a, b) CT_HOOK2(cb, level, MT_RARE, word, a, b)
#define CT_HOOK3_RARE(cb, level, word, a, b, c) CT_HOOK3(cb, level, MT_RARE, word, a, b, c)
#define CT_HOOK4_RARE(cb, level, word, a, b, c, d) CT_HOOK4(cb, level, MT_RARE, word, a, b, c, d)
#define CT_HOOK5_RARE(cb, level, word, a, b, c, d, e) \
  CT_HOOK5(cb, level, MT_RARE, word, a, b, c, d, e)
#define CT_GEN_RARE(cb, level, word, d1, length, bytes) \
  TRACEWELL_CT_DATA(cb, level, MT_RARE, word, d1, length, bytes)
#define CT_HOOK0_SYSTEM(cb, level, word) CT_HOOK0(cb, level, MT_SYSTEM, word)
#define CT_HOOK1_SYSTEM(cb, level, word, a) CT_HOOK1(cb, level, MT_SYSTEM, word, a)
#define CT_HOOK2_SYSTEM(cb, level, word, a, b) CT_HOOK2(cb, level, MT_SYSTEM, word, a, b)
#define CT_HOOK3_SYSTEM(cb, level, word, a, b, c) CT_HOOK3(cb, level, MT_SYSTEM, word, a, b, c)
#define CT_HOOK4_SYSTEM(cb, level, word, a, b, c, d) \
  CT_HOOK4(cb, level, MT_SYSTEM, word, a, b, c, d)
#define CT_HOOK5_SYSTEM(cb, level, word, a, b, c, d, e) \
  CT_HOOK5(cb, level, MT_SYSTEM, word, a, b, c, d, e)
#define CT_GEN_SYSTEM(cb, level, word, d1, length, bytes) \
  TRACEWELL_CT_DATA(cb, level, MT_SYSTEM, word, d1, length, bytes)

/* AIX's variants for components that serialise themselves, and for paths that are rare: each
 * thread has buffers of its own here, and no site is large, so they are the same. */
#define CTCS_HOOK0 CT_HOOK0
#define CTCS_HOOK1 CT_HOOK1
#define CTCS_HOOK2 CT_HOOK2
#define CTCS_HOOK3 CT_HOOK3
#define CTCS_HOOK4 CT_HOOK4
#define CTCS_HOOK5 CT_HOOK5
#define CTCS_GEN CT_GEN
#define CTFUNC_HOOK0 CT_HOOK0
#define CTFUNC_HOOK1 CT_HOOK1
#define CTFUNC_HOOK2 CT_HOOK2
#define CTFUNC_HOOK3 CT_HOOK3
#define CTFUNC_HOOK4 CT_HOOK4
#define CTFUNC_HOOK5 CT_HOOK5
#define CTFUNC_GEN CT_GEN

#endif
