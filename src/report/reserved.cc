// The facility's own hooks, in the language itself. What their data words mean is ours: the channel
// is the subhook (hook data), counts are data word 1.
#include "report/templates.h"

namespace tracewell::report {

std::string_view reserved_templates() {
  return R"(
000 1.0 L=KERN "TRACEID IS ZERO" "hookword=" $HOOKENV, 20 { G0 X4 }, \* { G0 X8 } \
  `file=$LOGFILE index=$LOGIDX0`
001 1.0 L=KERN "TRACE ON" "channel " $HD%U2
002 1.0 L=KERN "TRACE OFF" "channel " $HD%U2
003 1.0 L=KERN "TRACE HEADER"
004 1.0 L=KERN "TRACEID IS ZERO" "hookword=" $HOOKENV, 20 { G0 X4 }, \* { G0 X8 } \
  `file=$LOGFILE index=$LOGIDX0`
005 1.0 L=KERN "LOGFILE WRAPAROUND" $HD%U2
006 1.0 L=KERN "TRACEBUFFER WRAPAROUND" $HD%U2 $D1%U8 "missed entries"
00A 1.0 L=KERN "TRACE UTILITY" \
  $HD, \
  25C { "time conversion " $D3, 2 {`$D1%U8/$D2%U8`}, \* "1/1" }, \
  \* { "subhook " $HD }
)";
}

}  // namespace tracewell::report
