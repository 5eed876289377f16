/* A collector in C for compiled expressions, as it is in a traced process: compiled by
 * freestanding.sh. */
#include "ax/native.h"

#include <stddef.h>

_Static_assert(offsetof(struct tracewell_native_context, calls) == 0, "layout");
_Static_assert(offsetof(struct tracewell_native_context, variables) == 8, "layout");
_Static_assert(offsetof(struct tracewell_native_context, fault_address) == 16, "layout");
_Static_assert(sizeof(struct tracewell_native_calls) == 48, "layout");
_Static_assert(sizeof(struct tracewell_native_outcome) == 16, "two registers");

typedef struct tracewell_native_outcome expression(struct tracewell_native_context* context);

struct probe {
  struct tracewell_native_context context;
  uint64_t recorded;
};

static int record(struct tracewell_native_context* context, uint64_t address, uint64_t size) {
  struct probe* probe = (struct probe*)context;
  probe->recorded += size + (address & 1);
  return probe->recorded < 100;
}

uint64_t native_probe(expression* run, uint64_t* variables);

uint64_t native_probe(expression* run, uint64_t* variables) {
  struct tracewell_native_calls calls = {.trace_memory = record, .trace_string = record};
  struct probe probe = {{&calls, variables, 0}, 0};
  const struct tracewell_native_outcome outcome = run(&probe.context);
  if ((outcome.status & TRACEWELL_NATIVE_FAULT_MASK) != 0) return probe.context.fault_address;
  return outcome.value + probe.recorded + (outcome.status >> TRACEWELL_NATIVE_OFFSET_SHIFT);
}
