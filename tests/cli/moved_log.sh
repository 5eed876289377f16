#!/usr/bin/env bash
# labels: answers
# A log of trace hooks whose folder somebody renames while its trace runs: the collector follows it,
# and so do the commands that tell of it.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
cat >"$work/fires.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/trchkid.h>
int main(int argc, char **argv) {
  const int many = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < many; ++i) TRCHKL2(0x01000001, i, 1);
  while (many == 0 && getchar() != EOF) {
    TRCHKL2(0x01000001, 7, 2);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
C
cc -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" -L"$build/lib" \
  -lrts -Wl,-rpath,"$build/lib" || fail 'fires.c does not build'

# What found no room is told by the log, not by its name; another one may have that.
cat >"$work/moves" <<SH
$work/fires 3000000
mv $work/log $work/moved
hooks() { $tracewell print $work/moved 2>/dev/null | grep -c 0100; }
before=\$(hooks)
for _ in \$(seq 300); do  # until programs are led to where it is now
  $work/fires 10
  [ \$(hooks) -gt \$before ] && exit 0
  sleep 0.05
done
exit 1
SH
"$tracewell" trace -T 32k -o "$work/log" -x "sh $work/moves" >"$work/out" 2>"$work/err" ||
  fail "trace -x: $(cat "$work/err")"
has 'hooks found no room' err
has "$work/moved" err

# Who follows a log goes on.
rm -rf "$work/moved"
expect 0 trace -a -o "$work/log"
coproc fires { exec "$work/fires"; }
in=${fires[1]} out=${fires[0]}
fire() {
  for _ in 1 2 3; do
    echo -n x >&"$in"
    read -r _ <&"$out"
  done
}
TZ=UTC "$tracewell" report --follow "$work/log" >"$work/followed" 2>"$work/err" &
follower=$!
shown() {  # N: until so many hooks are shown, or the follower has ended
  for _ in $(seq 600); do
    [ "$(grep -c '010\|HOOK\|1000' "$work/followed")" -ge 1 ] &&
      [ "$(grep -o '0x0*100000\|01000\|0100' "$work/followed" | wc -l)" -ge "$1" ] && return
    kill -0 "$follower" 2>/dev/null || break
    sleep 0.05
  done
  fail "not $1 hooks: $(cat "$work/followed" "$work/err")"
}
fire
shown 3
mv "$work/log" "$work/moved"
fire
shown 6
kill -0 "$follower" 2>/dev/null || fail 'the follower has ended'
eval "exec $in>&-"
expect 0 trcstop
wait "$follower" || fail "the follower: $?"
finish
