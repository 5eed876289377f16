/* What make_fixtures.sh traces: five hooks for a session, three for the buffer of a component. */
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
int main(void) {
  ras_block_t part = tracewell_component_register("layouts.part", "part", "fixture");
  unsigned long i;
  for (i = 0; i < 5; ++i) TRCHKL2T(HKWD_USER1, i, 0x1234);
  for (i = 0; i < 3; ++i) CT_HOOK1(part, 1, MT_PRIV, HKWD_USER2, i);
  return 0;
}
