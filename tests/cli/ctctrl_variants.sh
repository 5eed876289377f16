#!/usr/bin/env bash
# The CTCS_ and CTFUNC_ macros of component trace, by what they leave: words, levels, destinations.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_COMPONENTS=$work/good TRACEWELL_COMPONENT_LOGS=$work/ct
log=$work/log

cat >"$work/kinds.c" <<'C'
#include <stdio.h>
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
static ras_block_t part;
static unsigned long asked;
static unsigned long word(unsigned long value) { ++asked; return value; }
#define ALL(KIND, level, dest, hook)                                        \
  do {                                                                      \
    KIND##_HOOK0(part, level, dest, hook);                                  \
    KIND##_HOOK1(part, level, dest, hook | 1, word(1));                     \
    KIND##_HOOK2(part, level, dest, hook | 2, word(1), 2);                  \
    KIND##_HOOK3(part, level, dest, hook | 3, word(1), 2, 3);               \
    KIND##_HOOK4(part, level, dest, hook | 4, word(1), 2, 3, 4);            \
    KIND##_HOOK5(part, level, dest, hook | 5, word(1), 2, 3, 4, 5);         \
    KIND##_HOOK0(RAS_BLOCK_NULL, 0, dest, hook | 9);                        \
  } while (0)
int main(void)
{
  char line[100];
  part = tracewell_component_register("part", "p", "kind");
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    asked = 0;
    ALL(CTCS, 3, MT_PRIV, HKWD_USER1);
    ALL(CTCS, 3, MT_SYSTEM, HKWD_USER2);
    ALL(CTFUNC, 5, MT_PRIV | MT_SYSTEM, HKWD_USER3);
    ALL(CTFUNC, 9, MT_RARE | MT_SYSTEM, HKWD_USER4);
    CTCS_GEN(part, 3, HKWD_USER5, word(7), 4, "abcd");
    CTFUNC_GEN(part, 5, HKWD_USER5 | 1, word(8), 3, "xyz");
    printf("%lu\n", asked);
    fflush(stdout);
  }
  return 0;
}
C
cc -Wall -Wextra -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/kinds.c" -o "$work/kinds" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" 2>"$work/err" || fail "kinds.c does not build"
[ -s "$work/err" ] && fail "warnings: $(head -3 "$work/err")"
coproc kinds { exec "$work/kinds"; }
pid=$kinds_PID in=${kinds[1]} out=${kinds[0]}
read -r _ <&"$out"
fire() {  # WANTED: how many arguments were computed
  local got
  echo >&"$in"
  read -r got <&"$out"
  [ "$got" = "$1" ] || fail "$got arguments were computed, not $1"
}
# LOG HOOK…: it has a hook of each number of words from 0 to 5 of these, and generic entries.
holds() {
  "$tracewell" print "$1" --where 'kind == "hook"' --format jsonl >"$work/out" 2>"$work/err"
  python3 - "$work/out" "${@:2}" <<'PY' || fail "$1 is not of ${*:2}"
import json, sys
got = [json.loads(line) for line in open(sys.argv[1])][1:]
wanted = []
for hook in sys.argv[2:]:
    if hook == "0500":
        wanted += [(hook, 0, ["0x7"], "61626364")]
    elif hook == "0501":
        wanted += [("0500", 1, ["0x8"], "78797a")]
    else:
        wanted += [(hook, n, [hex(i + 1) for i in range(n)], "") for n in range(6)]
got = [(h["id"], h["subhook"], h["words"], h.get("data", "") if h["generic"] else "") for h in got]
assert sorted(got) == sorted(wanted), got
PY
}

# Off: nothing is computed.
expect 0 ctctrl -c part memtraceoff systraceoff
fire 0
# In memory up to level 3, in the trace up to 5. What is for a level that nobody keeps is not
# computed.
expect 0 ctctrl -c part memtraceon memtracelevel=3 systraceon systracelevel=5
trace -a -o "$log" || fail "trace"
fire 17
trcstop || fail "trcstop"
holds "$log" 0200 0300 0500 0501
expect 0 ctctrl -D -c part
holds "$work/ct/part" 0100 0500
# Everything in memory, nothing in the trace.
expect 0 ctctrl -c part memtraceoff
expect 0 ctctrl -c part memtraceon memtracelevel=9 systraceoff
trace -a -o "$log" || fail "trace"
fire 22
trcstop || fail "trcstop"
holds "$log"
expect 0 ctctrl -D -c part
holds "$work/ct/part" 0100 0300 0500 0501
eval "exec $in>&-"
wait "$pid" || fail "the program's end"

# Whichever command is the first, what it makes is the user's alone.
mkdir -m 700 "$work/fresh"
(umask 022 && XDG_RUNTIME_DIR=$work/fresh expect 0 ctctrl -p -c part memtraceon)
[ "$(stat -c %a "$work/fresh/tracewell")" = 700 ] || fail "$(ls -la "$work/fresh")"

finish
