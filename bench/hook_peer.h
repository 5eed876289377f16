// The same event for LTTng-UST: five 64-bit words.
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER tracewell_bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "hook_peer.h"
#if !defined(HOOK_PEER_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define HOOK_PEER_H
#include <lttng/tracepoint.h>
TRACEPOINT_EVENT(tracewell_bench, five,
  TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, uint64_t, d, uint64_t, e),
  TP_FIELDS(ctf_integer_hex(uint64_t, a, a) ctf_integer_hex(uint64_t, b, b)
            ctf_integer_hex(uint64_t, c, c) ctf_integer_hex(uint64_t, d, d)
            ctf_integer_hex(uint64_t, e, e)))
#endif
#include <lttng/tracepoint-event.h>
