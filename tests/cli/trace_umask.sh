#!/usr/bin/env bash
# skips
# Programs whose umask takes rights of their own user, as a service's may: what they make for their
# hooks is there for all of that user's programs and commands.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_COMPONENTS=$work/good
# Root needs no rights.
as=()
if [ "$(id -u)" = 0 ]; then
  be_two_users
  as=("${user[@]}")
  chmod 755 "$work"
fi
cat >"$work/fires.c" <<'C'
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
#include <sys/trcmacros.h>
int main(void)
{
  ras_block_t net = tracewell_component_register("server.net", "net", "io_network");
  for (int i = 0; i < 20; ++i) {
    TRCHKL1(0x01000000, i);
    CT_HOOK1(net, 1, MT_PRIV, 0x01000000, i);
  }
  return 0;
}
C
cc -Wall -Wextra -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail 'fires.c'
chmod 755 "$work/fires"
for mask in 0177 0277 0477 0777; do
  home=$work/$mask
  mkdir -m 700 "$home"
  [ ${#as[@]} = 0 ] || chown 65534 "$home"
  run=("${as[@]}" env XDG_RUNTIME_DIR="$home")
  # The first one makes the folder where programs and commands meet.
  (umask $mask && "${run[@]}" "$work/fires") || fail "$mask: the first one ends with $?"
  "${run[@]}" "$tracewell" trace -a -o "$home/log" || fail "$mask: trace"
  (umask $mask && "${run[@]}" "$work/fires") || fail "$mask: it ends with $?"
  "${run[@]}" "$tracewell" trcstop || fail "$mask: trcstop"
  "${run[@]}" "$tracewell" check "$home/log" >"$work/out" 2>&1 || fail "$mask: check"
  has 'sound, 20 events'
  grep -q lost "$work/out" && fail "$mask: some are lost: $(cat "$work/out")"
  # The same where a command is the first one. Who takes reading from themselves means it.
  [ $mask = 0177 ] || [ $mask = 0277 ] || continue
  rm -r "$home/tracewell" "$home/log"
  (umask $mask && "${run[@]}" "$tracewell" trace -a -o "$home/log") || fail "$mask: trace first"
  "${run[@]}" "$work/fires" || fail "$mask: it ends with $?"
  (umask $mask && "${run[@]}" "$tracewell" trcstop) || fail "$mask: trcstop then"
  "${run[@]}" "$tracewell" check "$home/log" >"$work/out" 2>&1 || fail "$mask: check then"
  has 'sound, 20 events'
done
finish
