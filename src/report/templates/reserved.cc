// The facility's own hooks, in the language itself. What their data words mean is ours: the channel
// is the subhook (hook data), counts are data word 1, and generic ones say why as text. 00B and 00C
// are events that AIX does not know (event_entry.h).
#include "report/templates/templates.h"

namespace tracewell::report {

std::string_view reserved_templates() {
  return R"(
000 1.0 L=KERN "TRACEID IS ZERO" "hookword=" $HOOKENV, 20 { $HOOKWORD%X4 }, \* { $HOOKWORD%X8 } \
  `file=$LOGFILE index=$LOGIDX0`
001 1.0 L=KERN "TRACE ON" `channel $HD%U2` \
  $GENERIC, 1 { G16 {{ $size = $HL }} ", " $size%S1 }
002 1.0 L=KERN "TRACE OFF" `channel $HD%U2` \
  $GENERIC, 1 { G16 {{ $size = $HL }} ", " $size%S1 }
003 1.0 L=KERN "TRACE HEADER"
004 1.0 L=KERN "TRACEID IS ZERO" "hookword=" $HOOKENV, 20 { $HOOKWORD%X4 }, \* { $HOOKWORD%X8 } \
  `file=$LOGFILE index=$LOGIDX0`
005 1.0 L=KERN "LOGFILE WRAPAROUND" $HD%U2 $D1, 0 "", \* { $D1%U8 "records dropped" }
006 1.0 L=KERN "TRACEBUFFER WRAPAROUND" $HD%U2 $D1%U8 "missed entries" \
  $GENERIC, 1 { G16 {{ $size = $HL }} ": " $size%S1 }
00A 1.0 L=KERN "TRACE UTILITY" \
  $HD, \
  25C { "time conversion " $D3, 2 {`$D1%U8/$D2%U8`}, \* "1/1" }, \
  \* { "subhook " $HD }
00B 1.0 L=APPL "STEP" "pc=0x" $D1%X8 "opcode=" G48 {{ $size = $HD%U1 }} LOOP $size {X0} \
  $HD & 300, 100 ` reads 0x$D2=`, 200 ` writes 0x$D2=`, 300 ` changes 0x$D2=` \
  $HD & 700, 100 `0x$D3`, 200 `0x$D3`, 300 `0x$D3`, 500 "unknown", 600 "unknown", 700 "unknown"
00C 1.0 L=APPL "MARK" G16 LOOP $HL {A0}
)";
}

}  // namespace tracewell::report
